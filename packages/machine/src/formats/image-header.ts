/** Formats that providers of models take. */
export type ImageMediaType = "image/png" | "image/jpeg" | "image/gif" | "image/webp";

export interface ImageHeader {
  readonly mediaType: ImageMediaType;
  /** Pixels; undefined where the file ends, or is damaged, before it says so. */
  readonly size: { readonly width: number; readonly height: number } | undefined;
}

/**
 * What the first bytes say, whatever the file is called; undefined for anything that is not a PNG, JPEG, GIF or WebP. Pixels
 * are never unpacked, so an image that would fill the memory is only a number here.
 */
export function readImageHeader(bytes: Uint8Array): ImageHeader | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (startsWith(bytes, "\x89PNG\r\n\x1a\n")) return { mediaType: "image/png", size: pngSize(view) };
  if (startsWith(bytes, "\xff\xd8\xff")) return { mediaType: "image/jpeg", size: jpegSize(view) };
  if (startsWith(bytes, "GIF87a") || startsWith(bytes, "GIF89a")) {
    return { mediaType: "image/gif", size: sizeAt(view, 6, (at) => view.getUint16(at, true)) };
  }
  if (startsWith(bytes, "RIFF") && startsWith(bytes, "WEBP", 8))
    return { mediaType: "image/webp", size: webpSize(view) };
  return undefined;
}

type Size = ImageHeader["size"];

function pngSize(view: DataView): Size {
  if (!startsWith(bytesOf(view), "IHDR", 12) || view.byteLength < 24) return undefined;
  return someSize(view.getUint32(16), view.getUint32(20));
}

/** The size is in the frame header, after segments of any kind with a stated length. */
function jpegSize(view: DataView): Size {
  let at = 2;
  while (at + 9 <= view.byteLength) {
    if (view.getUint8(at) !== 0xff) return undefined;
    const marker = view.getUint8(at + 1);
    if (marker === 0xff) at += 1;
    else if (isFrame(marker)) return someSize(view.getUint16(at + 7), view.getUint16(at + 5));
    else at += 2 + Math.max(2, view.getUint16(at + 2));
  }
  return undefined;
}

function isFrame(marker: number): boolean {
  return marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc;
}

function webpSize(view: DataView): Size {
  const bytes = bytesOf(view);
  if (view.byteLength < 30) return undefined;
  if (startsWith(bytes, "VP8X", 12)) return someSize(1 + uint24(view, 24), 1 + uint24(view, 27));
  if (startsWith(bytes, "VP8 ", 12) && startsWith(bytes, "\x9d\x01\x2a", 23)) {
    return someSize(view.getUint16(26, true) & 0x3fff, view.getUint16(28, true) & 0x3fff);
  }
  if (startsWith(bytes, "VP8L", 12) && view.getUint8(20) === 0x2f) {
    const bits = view.getUint32(21, true);
    return someSize(1 + (bits & 0x3fff), 1 + ((bits >>> 14) & 0x3fff));
  }
  return undefined;
}

function sizeAt(view: DataView, at: number, read: (at: number) => number): Size {
  return view.byteLength < at + 4 ? undefined : someSize(read(at), read(at + 2));
}

function someSize(width: number, height: number): Size {
  return width === 0 || height === 0 ? undefined : { width, height };
}

function uint24(view: DataView, at: number): number {
  return view.getUint16(at, true) | (view.getUint8(at + 2) << 16);
}

function bytesOf(view: DataView): Uint8Array {
  return new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
}

function startsWith(bytes: Uint8Array, signature: string, at = 0): boolean {
  for (let index = 0; index < signature.length; index++) {
    if (bytes[at + index] !== signature.charCodeAt(index)) return false;
  }
  return true;
}
