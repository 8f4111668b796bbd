import { plainText } from "@gennai/machine/process/plain-text";
import * as z from "zod";

/** What a result may hold that the model can read. */
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

/** Most of a result that is kept; characters. */
const maxCharacters = 400_000;

/** A result as text, without what it says to a terminal. What is no text is named; what has another shape is shown as JSON. */
export function mcpContentText(result: Readonly<Record<string, unknown>>): string {
  const parsed = contentSchema.safeParse(result["content"]);
  const structured = result["structuredContent"];
  const text = plainText(
    parsed.success && parsed.data.length > 0
      ? parsed.data.map(describe).join("\n")
      : JSON.stringify(structured ?? result["content"] ?? result["toolResult"] ?? null),
  );
  return text.length > maxCharacters ? `${text.slice(0, maxCharacters)}\n[cut: the result was larger]` : text;
}

function describe(part: z.infer<typeof contentSchema>[number]): string {
  switch (part.type) {
    case "text":
      return part.text;
    case "image":
    case "audio":
      return `[${part.mimeType}, ${Math.floor((part.data.length * 3) / 4)} bytes]`;
    case "resource":
      return part.resource.text ?? `[${part.resource.mimeType ?? "resource"} ${part.resource.uri}]`;
    case "resource_link":
      return `[${part.name ?? "resource"} ${part.uri}]`;
  }
}
