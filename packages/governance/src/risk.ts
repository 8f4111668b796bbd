/** `low` reads, `medium` writes within scope and can be taken back, `high` destroys, is privileged or leaves the machine. */
export type Risk = "low" | "medium" | "high";

const order: readonly Risk[] = ["low", "medium", "high"];

/** The highest of the risks; `low` when there is none. */
export function highestRisk(risks: Iterable<Risk>): Risk {
  let highest = 0;
  for (const risk of risks) highest = Math.max(highest, order.indexOf(risk));
  return order[highest] ?? "high";
}
