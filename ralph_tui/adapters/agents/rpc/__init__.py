"""The common part of adapters for agents that speak JSON-RPC in lines, in both directions."""
