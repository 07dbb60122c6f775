"""Agents that speak JSON-RPC in lines, requests both ways: what their adapters share."""
