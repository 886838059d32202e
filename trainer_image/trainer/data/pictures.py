"""From an image file, whatever its kind, to an RGB array."""

from __future__ import annotations

import io
import warnings

import numpy as np
from PIL import Image, ImageOps

WHITE = (255, 255, 255)
Image.MAX_IMAGE_PIXELS = 200_000_000
warnings.simplefilter("ignore", Image.DecompressionBombWarning)


def picture(data: bytes) -> Image.Image:
    """The image upright and in RGB: turned as its EXIF says, palettes resolved, CMYK and 16-bit grey converted,
    transparency on white, of an animation the first frame. Raises OSError if it cannot be read to its end."""
    try:
        image = Image.open(io.BytesIO(data))
        image.seek(0)
        image.load()
    except (OSError, SyntaxError, ValueError, EOFError, Image.DecompressionBombError) as error:
        raise OSError(str(error)) from error
    image = ImageOps.exif_transpose(image)
    if image.mode.startswith("I;16") or image.mode in ("I", "F"):
        values = np.asarray(image, dtype="float64")
        top = 65535.0 if values.max() > 255 else 255.0
        image = Image.fromarray((values * (255.0 / top)).clip(0, 255).astype("uint8"))
    if image.mode in ("P", "PA", "LA", "RGBA", "La", "RGBa") or "transparency" in image.info:
        layered = image.convert("RGBA")
        ground = Image.new("RGBA", layered.size, (*WHITE, 255))
        image = Image.alpha_composite(ground, layered)
    return image.convert("RGB")


def short_side(image: Image.Image, size: int) -> Image.Image:
    """Scaled so that its shorter side has `size` pixels."""
    width, height = image.size
    scale = size / min(width, height)
    return image.resize((max(size, round(width * scale)), max(size, round(height * scale))), Image.Resampling.BILINEAR)


def crop(values: np.ndarray, top: int, left: int, size: int) -> np.ndarray:
    return values[top : top + size, left : left + size]


def center(values: np.ndarray, size: int) -> np.ndarray:
    """The middle [size, size, 3] of an array that is at least as large."""
    height, width = values.shape[:2]
    return crop(values, (height - size) // 2, (width - size) // 2, size)
