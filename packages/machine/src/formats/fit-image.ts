import { reachesEnd } from "./image-end.ts";
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
