"""From what people have (a text, an image) to a model's input, and from its output to an answer. Used when a model is
tried; what is done here is what was done in training."""
