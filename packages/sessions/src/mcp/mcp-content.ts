import type { ShownImage } from "@gennai/governance/tool";
import { judgeImage } from "@gennai/machine/formats/fit-image";
import { plainText } from "@gennai/machine/process/plain-text";
import * as z from "zod";

/** Content types that the model can read. */
const contentSchema = z.array(
  z.union([
    z.object({ type: z.literal("text"), text: z.string() }),
    z.object({ type: z.literal("image"), mimeType: z.string().default("image"), data: z.string().default("") }),
    z.object({ type: z.literal("audio"), mimeType: z.string().default("audio"), data: z.string().default("") }),
    z.object({
      type: z.literal("resource"),
      resource: z.object({ uri: z.string(), text: z.string().optional(), mimeType: z.string().optional() }),
    }),
    z.object({ type: z.literal("resource_link"), uri: z.string(), name: z.string().optional() }),
  ]),
);

/** Maximum characters kept of a result. */
const maxCharacters = 400_000;
/** Maximum images shown of one result. */
const maxImages = 8;

export interface McpContent {
  readonly text: string;
  readonly images: readonly ShownImage[];
}

/**
 * A result as text, without terminal control sequences, and its images. Other content is named; other structures are shown as
 * JSON.
 */
export function readMcpContent(result: Readonly<Record<string, unknown>>): McpContent {
  const parsed = contentSchema.safeParse(result["content"]);
  const structured = result["structuredContent"];
  const images: ShownImage[] = [];
  const text = plainText(
    parsed.success && parsed.data.length > 0
      ? parsed.data.map((part) => describe(part, images)).join("\n")
      : JSON.stringify(structured ?? result["content"] ?? result["toolResult"] ?? null),
  );
  return {
    text: text.length > maxCharacters ? `${text.slice(0, maxCharacters)}\n[cut: the result was larger]` : text,
    images,
  };
}

function describe(part: z.infer<typeof contentSchema>[number], images: ShownImage[]): string {
  switch (part.type) {
    case "text":
      return part.text;
    case "image":
      return showImage(part, images);
    case "audio":
      return `[${part.mimeType}, ${Math.floor((part.data.length * 3) / 4)} bytes]`;
    case "resource":
      return part.resource.text ?? `[${part.resource.mimeType ?? "resource"} ${part.resource.uri}]`;
    case "resource_link":
      return `[${part.name ?? "resource"} ${part.uri}]`;
  }
}

/** Decided by the bytes: the server's type is only a claim. */
function showImage(
  { mimeType, data }: { readonly mimeType: string; readonly data: string },
  images: ShownImage[],
): string {
  const bytes = Buffer.from(data, "base64");
  const verdict = judgeImage(bytes);
  if (verdict.type === "no-image") return `[${mimeType}, ${bytes.length} bytes, not shown: no PNG, JPEG, GIF or WebP]`;
  if (verdict.type === "unfit") return `[image, not shown: ${verdict.problem}]`;
  if (images.length === maxImages) return `[image, not shown: at most ${maxImages} of a result are]`;
  images.push(verdict.image);
  return `[image ${images.length}: ${verdict.image.description}]`;
}
