"""The outside, behind the ports: agents, git, files, processes, sockets, channels."""
