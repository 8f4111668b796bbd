import { type ImageHeader, type ImageMediaType, readImageHeader } from "./image-header.ts";

/** The least that providers of models take of one image: five million bytes in base64, and this many pixels a side. */
const imageLimits = { bytes: 3_750_000, side: 8_000 } as const;

/** An image that providers take; but Google takes no GIF. */
export interface FitImage {
  readonly bytes: Uint8Array;
  readonly mediaType: ImageMediaType;
  /** For people and models, e.g. `PNG, 640 x 480 pixels, 12345 bytes`. */
  readonly description: string;
}

export type ImageVerdict =
  | { readonly type: "image"; readonly image: FitImage }
  /** `problem`: what is wrong with it, and what to do. */
  | { readonly type: "unfit"; readonly problem: string }
  | { readonly type: "no-image" };

/** Judges by how the file is put together, without unpacking a pixel. */
export function judgeImage(bytes: Uint8Array): ImageVerdict {
  const header = readImageHeader(bytes);
  if (header === undefined) return { type: "no-image" };
  const { mediaType, size } = header;
  if (size === undefined) {
    return {
      type: "unfit",
      problem: `It begins as ${nameOf(header)} and is damaged or cut: it does not say its size.`,
    };
  }
  const description = `${nameOf(header)}, ${size.width} x ${size.height} pixels, ${bytes.length} bytes`;
  if (size.width > imageLimits.side || size.height > imageLimits.side || bytes.length > imageLimits.bytes) {
    const most = `${imageLimits.bytes} bytes and ${imageLimits.side} pixels a side`;
    return { type: "unfit", problem: `${description}: models take at most ${most}. Make a smaller copy and use that.` };
  }
  if (!reachesEnd(bytes, mediaType)) {
    return {
      type: "unfit",
      problem: `${description}: it is damaged or cut, since its end is missing. Get or make it anew and use that.`,
    };
  }
  return { type: "image", image: { bytes, mediaType, description } };
}

function nameOf({ mediaType }: ImageHeader): string {
  return mediaType === "image/webp" ? "WebP" : mediaType.slice("image/".length).toUpperCase();
}

/**
 * Whether an image is complete, by the structure of its format: a PNG to its IEND, a JPEG to its EOI, a GIF to its trailer, a
 * WebP to its stated length. Data after that does not matter. Providers refuse a request with an incomplete one. Pixels are not
 * decoded.
 */
function reachesEnd(bytes: Uint8Array, mediaType: ImageMediaType): boolean {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  try {
    return hasEnd[mediaType](view);
  } catch (error) {
    // Something was looked for behind the last byte.
    if (error instanceof RangeError) return false;
    throw error;
  }
}

const hasEnd: Readonly<Record<ImageMediaType, (view: DataView) => boolean>> = {
  "image/png": pngEnds,
  "image/jpeg": jpegEnds,
  "image/gif": gifEnds,
  "image/webp": (view) => view.getUint32(4, true) + 8 <= view.byteLength,
};

/** Chunks: length, name, so many bytes, checksum. */
function pngEnds(view: DataView): boolean {
  let hasPixels = false;
  for (let at = 8; ; ) {
    const length = view.getUint32(at);
    const name = view.getUint32(at + 4);
    at += 12 + length;
    if (at > view.byteLength) return false;
    if (name === pngChunk.IDAT) hasPixels = true;
    if (name === pngChunk.IEND) return hasPixels;
  }
}

const pngChunk = { IDAT: 0x49444154, IEND: 0x49454e44 } as const;

/**
 * Skips segments with a stated length, which may contain a whole smaller image; in the pixel data after them, the end mark
 * cannot occur.
 */
function jpegEnds(view: DataView): boolean {
  for (let at = 2; ; ) {
    if (view.getUint8(at) !== 0xff) return false;
    const marker = view.getUint8(at + 1);
    if (marker === 0xff) at += 1;
    else if (marker === 0xda) return hasMark(view, at + 2 + view.getUint16(at + 2));
    else at += 2 + Math.max(2, view.getUint16(at + 2));
  }
}

function hasMark(view: DataView, from: number): boolean {
  const bytes = Buffer.from(view.buffer, view.byteOffset, view.byteLength);
  return bytes.includes(Buffer.of(0xff, 0xd9), from);
}

/** A screen, then extensions and frames, each in blocks that say how long they are. */
function gifEnds(view: DataView): boolean {
  let hasPixels = false;
  for (let at = 13 + colours(view.getUint8(10)); ; ) {
    const kind = view.getUint8(at);
    if (kind === 0x3b) return hasPixels;
    if (kind === 0x21) at = behindBlocks(view, at + 2);
    else if (kind === 0x2c) {
      hasPixels = true;
      at = behindBlocks(view, at + 11 + colours(view.getUint8(at + 9)));
    } else return false;
  }
}

/** Bytes of a table of colours. */
function colours(flags: number): number {
  return (flags & 0x80) === 0 ? 0 : 3 << ((flags & 7) + 1);
}

function behindBlocks(view: DataView, start: number): number {
  let at = start;
  for (let length = view.getUint8(at); length > 0; length = view.getUint8(at)) at += 1 + length;
  return at + 1;
}
