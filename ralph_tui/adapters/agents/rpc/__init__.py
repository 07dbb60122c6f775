"""The common part of adapters for agents that speak line-delimited JSON-RPC in both directions."""
