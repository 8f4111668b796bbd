import { redactionMarker } from "@gennai/governance/redaction";
import { ToolFailure } from "@gennai/governance/tool-error";

/**
 * Refuses a text with more masks than the text it replaces: a mask replaces a secret that the model never saw, and writing it
 * would destroy the secret. Throws `masked_text`.
 * @param oldText called only if the new text contains a mask
 */
export function refuseMaskedText(newText: string, oldText: () => string): void {
  const count = masks(newText);
  if (count === 0 || count <= masks(oldText())) return;
  throw new ToolFailure(
    "masked_text",
    `The text holds "${redactionMarker}…]", a mask in place of a secret, and would overwrite it.`,
    {
      failureClass: "permission_denied",
      hint: "Change only the lines around the masked value, with Edit.",
    },
  );
}

function masks(text: string): number {
  return text.split(redactionMarker).length - 1;
}
