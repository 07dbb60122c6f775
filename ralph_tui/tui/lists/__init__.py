"""What screens that list something share: their keys, their table, their bars and what keys do."""
