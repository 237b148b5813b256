"""The game itself: rules, cards, the batched core. Numpy only."""
