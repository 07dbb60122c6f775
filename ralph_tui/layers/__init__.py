"""The decision layers: pure code, one package per layer, and the governor that combines them."""
