import type { McpStart } from "./mcp-config.ts";

/**
 * What the user accepts, in lines: the command or address, and its arguments and environment, which matter as much. Untrusted
 * text.
 * @param secrets whether values named like secrets are shown: `masked` if others may see them
 */
export function describedStart(start: McpStart, secrets: "shown" | "masked"): readonly string[] {
  const given = (how: string, values: Readonly<Record<string, string>>, between: string) =>
    Object.entries(values).map(([name, value]) => {
      const isMasked = secrets === "masked" && soundsSecret(name);
      return `${how} ${name}${between}${isMasked ? "…" : value}`;
    });
  if (start.type === "http") {
    const client = start.client === undefined ? [] : [`logs in as ${start.client}`];
    return [start.url, ...given("sends", start.headers, ": "), ...client];
  }
  return [
    [start.command, ...start.args].map((part) => (/^[^\s"'\\]+$/.test(part) ? part : JSON.stringify(part))).join(" "),
    ...(start.cwd === undefined ? [] : [`in ${start.cwd}`]),
    ...given("with", start.environment, "="),
  ];
}

function soundsSecret(name: string): boolean {
  return /key|token|secret|passw|auth|cookie|credential/i.test(name);
}
