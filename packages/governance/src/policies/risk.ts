// Provisional: its owner replaces this file.
import { isReadOnly } from "../effect.ts";
import type { Risk } from "../risk.ts";
import { highestRisk } from "../risk.ts";
import type { Analysis } from "../tool.ts";

export function computeRisk(analysis: Analysis): Risk {
  return highestRisk(
    analysis.effects.map((effect) =>
      effect.type === "exec" ? effect.command.risk : isReadOnly(effect) ? "low" : effect.type === "net" ? "high" : "medium",
    ),
  );
}
