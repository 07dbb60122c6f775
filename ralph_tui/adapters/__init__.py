"""The outside world, behind the ports: agents, Git, files, processes, sockets, channels."""
