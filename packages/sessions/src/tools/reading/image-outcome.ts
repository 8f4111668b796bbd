import type { ToolOutcome } from "@gennai/governance/tool";
import { ToolFailure } from "@gennai/governance/tool-error";
import { judgeImage } from "@gennai/machine/images/fit-image";

/** An image as a result shows it; undefined for what is none. Throws `ToolFailure` for one that models do not take. */
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
