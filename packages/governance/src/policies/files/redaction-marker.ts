import { eachEffect, type Policy } from "../../policy.ts";
import { redactionMarker } from "../../redaction.ts";
import { allow, deny } from "../../verdict.ts";

/** Masked text must never be written to a file: it would destroy the secret it replaces. */
export function createRedactionMarkerPolicy(): Policy {
  return eachEffect("redaction-marker", (effect) => {
    const masked =
      ((effect.type === "write" || effect.type === "propose") && effect.content?.includes(redactionMarker)) ||
      (effect.type === "exec" && !effect.command.readsOnly && effect.command.text.includes(redactionMarker));
    if (!masked) return allow;
    return deny({
      code: "masked_text",
      rule: "redaction-marker/masked-text",
      reason: `The text holds ${redactionMarker}…], which marks a secret that was masked.`,
      hint: "Change only lines around the secret, so that its line is left as it is.",
    });
  });
}
