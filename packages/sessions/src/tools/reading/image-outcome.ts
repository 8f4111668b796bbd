import type { ToolOutcome } from "@gennai/governance/tool";
import { ToolFailure } from "@gennai/governance/tool-error";
import { judgeImage } from "@gennai/machine/formats/fit-image";

/** An image as a result; undefined if the bytes are no image. Throws `ToolFailure` for a format that models do not accept. */
export function imageOutcome(name: string, bytes: Uint8Array): ToolOutcome | undefined {
  const verdict = judgeImage(bytes);
  switch (verdict.type) {
    case "no-image":
      return undefined;
    case "unfit":
      throw new ToolFailure("unfit_image", `${name} cannot be shown. ${verdict.problem}`, {
        hint: "Where there is a program for it (magick, sips, ffmpeg), make a smaller copy with Bash and Read that.",
      });
    case "image":
      return { output: `[image ${name}: ${verdict.image.description}]`, images: [verdict.image] };
  }
}
