import type { ShownImage } from "@gennai/governance/tool";
import { judgeImage } from "@gennai/machine/formats/fit-image";
import { plainText } from "@gennai/machine/process/plain-text";
import { visibleText } from "@gennai/machine/web/visible-text";
import * as z from "zod";

const resourceSchema = z.object({
  uri: z.string(),
  text: z.string().optional(),
  blob: z.string().optional(),
  mimeType: z.string().optional(),
});
type Resource = Readonly<z.infer<typeof resourceSchema>>;

/** Content types that the model can read. */
const contentSchema = z.array(
  z.union([
    z.object({ type: z.literal("text"), text: z.string() }),
    z.object({ type: z.literal("image"), mimeType: z.string().default("image"), data: z.string().default("") }),
    z.object({ type: z.literal("audio"), mimeType: z.string().default("audio"), data: z.string().default("") }),
    z.object({ type: z.literal("resource"), resource: resourceSchema }),
    z.object({ type: z.literal("resource_link"), uri: z.string(), name: z.string().optional() }),
  ]),
);

/** Maximum characters kept of a result. */
const maxCharacters = 400_000;
/** So many values of a structure are looked for in the text. */
const maxLeaves = 50;
/** So many links of one result are followed, to texts of at most so many characters. */
const maxLinks = 8;
const maxLinked = 20_000;
/** Maximum images shown of one result. */
const maxImages = 8;

export interface McpContent {
  readonly text: string;
  readonly images: readonly ShownImage[];
}

/**
 * A result as text, without terminal control sequences and hidden characters, and its images. Other content is named; other structures are shown as
 * JSON.
 */
export function readMcpContent(result: Readonly<Record<string, unknown>>): McpContent {
  const parsed = contentSchema.safeParse(result["content"]);
  const structured = result["structuredContent"];
  const images: ShownImage[] = [];
  const parts = parsed.success ? parsed.data.map((part) => describe(part, images)) : [];
  // Servers should repeat it as text (server/tools, Structured Content), and not all do.
  if (structured !== undefined && (parts.length === 0 || !repeats(parts.join("\n"), structured)))
    parts.push(JSON.stringify(structured));
  const said = parts.length > 0 ? parts.join("\n") : JSON.stringify(result["content"] ?? result["toolResult"] ?? null);
  const text = visibleText(plainText(said));
  return {
    text: text.length > maxCharacters ? `${text.slice(0, maxCharacters)}\n[cut: the result was larger]` : text,
    images,
  };
}

const linkSchema = z.looseObject({ type: z.literal("resource_link"), uri: z.string() });
const linkedText = z.object({ uri: z.string(), text: z.string().max(maxLinked), mimeType: z.string().optional() });

/**
 * A result with short texts that it links to, each behind its link: the model has no other way to them. Others stay links, also where
 * they cannot be read.
 * @param read asks the server of the result
 */
export async function withLinked(
  result: Readonly<Record<string, unknown>>,
  read: (uri: string) => Promise<readonly unknown[]>,
): Promise<Readonly<Record<string, unknown>>> {
  const { content } = result;
  if (!Array.isArray(content)) return result;
  let left = maxLinks;
  const parts = content.map(async (part: unknown): Promise<readonly unknown[]> => {
    const { data: link } = linkSchema.safeParse(part);
    if (link === undefined || left-- <= 0) return [part];
    const contents = await read(link.uri).catch(() => []);
    const texts = contents.flatMap((one) => linkedText.safeParse(one).data ?? []);
    return [part, ...texts.map((resource) => ({ type: "resource", resource }))];
  });
  return { ...result, content: (await Promise.all(parts)).flat() };
}

/** Whether a text has what a structure holds, e.g. as JSON or as the words of its only property. */
function repeats(text: string, structured: unknown): boolean {
  return leavesOf(structured)
    .take(maxLeaves)
    .every((leaf) => text.includes(leaf));
}

function* leavesOf(value: unknown): Generator<string> {
  if (typeof value === "object" && value !== null) for (const inner of Object.values(value)) yield* leavesOf(inner);
  else yield String(value);
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
      return describeResource(part.resource, images);
    case "resource_link":
      return `[${part.name ?? "resource"} ${part.uri}]`;
  }
}

function describeResource({ uri, text, blob, mimeType = "resource" }: Resource, images: ShownImage[]): string {
  const named = `[${mimeType} ${uri}]`;
  if (text !== undefined) return text;
  return blob !== undefined && mimeType.startsWith("image/")
    ? `${named} ${showImage({ mimeType, data: blob }, images)}`
    : named;
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
