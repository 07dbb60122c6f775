"""What the loop needs from outside, as Protocols that fakes and the real parts both fit.

Every call here returns at once or is run as a job (`Host.start`): none may hold the engine thread
for more than 100 ms.
"""
