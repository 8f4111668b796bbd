/** True if a text looks like a plan that can be submitted as it is. */
export function looksLikePlan(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== "object" || value === null) return false;
    return ("steps" in value && Array.isArray(value.steps)) || "plan" in value || "kind" in value;
  } catch {
    return false;
  }
}
