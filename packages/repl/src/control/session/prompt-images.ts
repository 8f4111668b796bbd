import type { BlobRef } from "@gennai/protocol/model/session/proposal";

/** A picture that is sent with a prompt. */
export interface PromptImage {
  readonly id: string;
  readonly name: string;
  readonly mediaType: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/** What the server accepts: at most 20 in 16 MiB of request with its text, and each no larger than every model accepts. */
const imageLimits = { count: 20, bytes: 3_750_000, allBytes: 12_000_000 };

const mediaTypes: ReadonlySet<string> = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]);

/** The files that fit next to the present images, and a sentence about each that does not. */
export async function readImages(
  files: readonly File[],
  present: readonly PromptImage[],
): Promise<{ readonly images: readonly PromptImage[]; readonly problems: readonly string[] }> {
  const images: PromptImage[] = [];
  const problems: string[] = [];
  let total = present.reduce((sum, image) => sum + image.bytes.length, 0);
  for (const file of files) {
    const name = file.name === "" ? "The picture" : file.name;
    if (!mediaTypes.has(file.type)) problems.push(`${name} is no PNG, JPEG, GIF or WebP.`);
    else if (present.length + images.length >= imageLimits.count) {
      problems.push(`${name} was left out: a prompt takes ${imageLimits.count} pictures at most.`);
    } else if (file.size > imageLimits.bytes) {
      problems.push(`${name} is larger than ${megabytes(imageLimits.bytes)}, which is what models take.`);
    } else if (total + file.size > imageLimits.allBytes) {
      problems.push(`${name} was left out: all pictures together may have ${megabytes(imageLimits.allBytes)}.`);
    } else {
      total += file.size;
      const bytes = new Uint8Array(await file.arrayBuffer());
      images.push({ id: crypto.randomUUID(), name, mediaType: file.type, bytes });
    }
  }
  return { images, problems };
}

/** Pictures that the server stored; `contents` and `blobs` have the same order. */
export function promptImages(
  contents: readonly Uint8Array[],
  blobs: readonly Pick<BlobRef, "mediaType">[],
): readonly PromptImage[] {
  return contents.map((bytes, index) => ({
    id: crypto.randomUUID(),
    name: `Picture ${index + 1}`,
    mediaType: blobs[index]?.mediaType ?? "image/png",
    bytes: new Uint8Array(bytes),
  }));
}

function megabytes(bytes: number): string {
  return `${bytes / 1_000_000} MB`;
}
