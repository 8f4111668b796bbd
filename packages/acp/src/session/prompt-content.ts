import { fileURLToPath } from "node:url";
import type { ContentBlock } from "@agentclientprotocol/sdk";
import { fencedText } from "@gennai/client/session/text/fenced-text";

export interface PromptContent {
  readonly text: string;
  readonly images: readonly Uint8Array[];
}

/**
 * What the person typed and added, as one prompt. Links to files stay names, which the model may read by its tools and rules;
 * texts that the editor sent along are material in a fence. Throws `TypeError` for what no model here takes.
 */
export function promptContent(blocks: readonly ContentBlock[]): PromptContent {
  const texts: string[] = [];
  const images: Uint8Array[] = [];
  for (const block of blocks) {
    switch (block.type) {
      case "text":
        texts.push(block.text);
        break;
      case "image":
        images.push(Buffer.from(block.data, "base64"));
        break;
      case "resource_link":
        texts.push(nameOf(block.uri));
        break;
      case "resource": {
        const { resource } = block;
        if (!("text" in resource))
          throw new TypeError(`${resource.uri} is not text. Add it as an image, or as a link.`);
        texts.push(`\n${fencedText(resource.text, nameOf(resource.uri))}\n`);
        break;
      }
      case "audio":
        throw new TypeError("Audio cannot be sent. Write the prompt as text.");
    }
  }
  return { text: texts.join(""), images };
}

/** The path, if the URI is one. On one line, because it is inserted into one. */
function nameOf(uri: string): string {
  const name = uri.startsWith("file:") && URL.canParse(uri) ? fileURLToPath(uri) : uri;
  return name.replace(/[\r\n]+/g, " ");
}
