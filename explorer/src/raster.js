// Rectangles into pixels, and into a second image that says which lifetime each pixel shows (from 1;
// 0: none). Rectangles of a valid plan do not lie over one another, so this costs as much as there
// are pixels and rectangles. Each is at least a pixel each way, so that nothing vanishes.

// Mixes two colours 0xAABBGGRR, `part` of 256 of the second.
export function mixed(a, b, part) {
  const channel = (shift) =>
    (((a >>> shift) & 255) * (256 - part) + ((b >>> shift) & 255) * part) >> 8;
  return (0xff000000 | (channel(16) << 16) | (channel(8) << 8) | channel(0)) >>> 0;
}

export class Raster {
  constructor(width, height) {
    this.width = width;
    this.height = height;
    this.pixels = new Uint32Array(width * height);
    this.ids = new Int32Array(width * height);
  }

  clear(background) {
    this.pixels.fill(background);
    this.ids.fill(0);
  }

  // Sets `this.box` to the pixels of a rectangle; false if it is not seen.
  place(view, x0, x1, y0, y1) {
    if (x1 <= view.x0 || x0 >= view.x1 || y1 <= view.y0 || y0 >= view.y1) return false;
    const sx = this.width / (view.x1 - view.x0), sy = this.height / (view.y1 - view.y0);
    let left = Math.floor((x0 - view.x0) * sx), right = Math.floor((x1 - view.x0) * sx);
    let top = this.height - Math.floor((y1 - view.y0) * sy);
    let bottom = this.height - Math.floor((y0 - view.y0) * sy);
    if (right <= left) right = left + 1;
    if (bottom <= top) bottom = top + 1;
    left = left < 0 ? 0 : left;
    top = top < 0 ? 0 : top;
    right = right > this.width ? this.width : right;
    bottom = bottom > this.height ? this.height : bottom;
    this.left = left;
    this.right = right;
    this.top = top;
    this.bottom = bottom;
    return left < right && top < bottom;
  }

  // `colour` per lifetime; `edge` lines the left and lower side of what is large enough.
  draw(rectangles, view, colour, edge) {
    const { order, x0, x1, y0, y1 } = rectangles;
    for (let k = 0; k < order.length; k++) {
      const i = order[k];
      if (this.place(view, x0[i], x1[i], y0[i], y1[i])) this.fill(i + 1, colour[i], edge);
    }
  }

  fill(id, colour, edge) {
    const { left, right, top, bottom, width, pixels, ids } = this;
    if (right - left === 1) {
      for (let y = top, at = top * width + left; y < bottom; y++, at += width) {
        pixels[at] = colour;
        ids[at] = id;
      }
      return;
    }
    for (let y = top, at = top * width; y < bottom; y++, at += width) {
      pixels.fill(colour, at + left, at + right);
      ids.fill(id, at + left, at + right);
    }
    if (right - left < 5 || bottom - top < 4) return;
    const dark = mixed(colour, edge, 110);
    pixels.fill(dark, (bottom - 1) * width + left, (bottom - 1) * width + right);
    for (let y = top; y < bottom; y++) pixels[y * width + left] = dark;
  }

  // Diagonal lines over an area that two buffers hold at once.
  hatch(view, area, ink) {
    if (!this.place(view, area.x0, area.x1, area.y0, area.y1)) return;
    for (let y = this.top; y < this.bottom; y++) {
      for (let x = this.left; x < this.right; x++) {
        if ((x + y) % 7 < 2) this.pixels[y * this.width + x] = ink;
      }
    }
  }

  // Dots over what lies inside another buffer.
  dot(view, x0, x1, y0, y1, ink) {
    if (!this.place(view, x0, x1, y0, y1)) return;
    for (let y = this.top; y < this.bottom; y++) {
      if (y % 5) continue;
      for (let x = this.left; x < this.right; x++) {
        if (x % 5 === 0) this.pixels[y * this.width + x] = ink;
      }
    }
  }

  // The lifetime at a pixel, or the nearest within a few pixels; -1 if there is none.
  at(x, y, reach = 2) {
    for (let r = 0; r <= reach; r++) {
      for (let dy = -r; dy <= r; dy++) {
        for (let dx = -r; dx <= r; dx++) {
          if (Math.max(Math.abs(dx), Math.abs(dy)) !== r) continue;
          const px = x + dx, py = y + dy;
          if (px < 0 || py < 0 || px >= this.width || py >= this.height) continue;
          const id = this.ids[py * this.width + px];
          if (id) return id - 1;
        }
      }
    }
    return -1;
  }
}
