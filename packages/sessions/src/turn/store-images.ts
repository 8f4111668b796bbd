import { judgeImage } from "@gennai/machine/formats/fit-image";
import { ServiceError } from "@gennai/machine/service-error";
import type { BlobRef } from "@gennai/protocol/model/session/proposal";
import type { BlobStore } from "@gennai/store/log/session-log";

const maxImages = 20;

/** Stores the images of a message. Throws `ServiceError` if one is no image, or if there are too many. */
export async function storeImages(
  blobs: Pick<BlobStore, "put">,
  images: readonly Uint8Array[],
): Promise<readonly BlobRef[]> {
  if (images.length > maxImages)
    throw new ServiceError("invalid_argument", `At most ${maxImages} images go with a message.`);
  return Promise.all(
    images.map((bytes, index) => {
      const verdict = judgeImage(bytes);
      if (verdict.type === "image") return blobs.put(bytes, verdict.image.mediaType);
      const problem = verdict.type === "unfit" ? verdict.problem : "It must be PNG, JPEG, GIF or WebP.";
      throw new ServiceError("invalid_argument", `Image ${index + 1} cannot go along. ${problem}`);
    }),
  );
}
