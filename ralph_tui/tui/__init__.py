"""The cockpit: what a person sees of a run. It reads state and sends commands, nothing else."""
