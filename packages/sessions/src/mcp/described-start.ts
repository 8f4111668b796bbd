import type { McpStart } from "./mcp-config.ts";

/**
 * What an acceptance is for, in lines: the command or address, and what it is given, which decides what it does as much as its name.
 * Untrusted text.
 * @param secrets whether values that go by the name of a secret are shown: `masked` where others look on
 */
export function describedStart(start: McpStart, secrets: "shown" | "masked"): readonly string[] {
  const given = (how: string, values: Readonly<Record<string, string>>, between: string) =>
    Object.entries(values).map(([name, value]) => {
      const isMasked = secrets === "masked" && soundsSecret(name);
      return `${how} ${name}${between}${isMasked ? "…" : value}`;
    });
  if (start.type === "http") return [start.url, ...given("sends", start.headers, ": ")];
  return [
    [start.command, ...start.args].map((part) => (/^[^\s"'\\]+$/.test(part) ? part : JSON.stringify(part))).join(" "),
    ...(start.cwd === undefined ? [] : [`in ${start.cwd}`]),
    ...given("with", start.environment, "="),
  ];
}

function soundsSecret(name: string): boolean {
  return /key|token|secret|passw|auth|cookie|credential/i.test(name);
}
