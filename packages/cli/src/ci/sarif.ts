import { describeRefusal, fingerprintOf, placeOf } from "./refusal-place.ts";
import type { Refusal } from "./refusals.ts";

/**
 * The refusals as SARIF 2.1.0 (https://docs.oasis-open.org/sarif/sarif/v2.1.0/), which code scanning takes: a result for each, an error
 * where a rule refused, a warning where a question had no answer.
 */
export function sarifOf(refusals: readonly Refusal[], version: string): object {
  const rules = [...new Set(refusals.map(({ rule }) => rule))];
  return {
    $schema: "https://json.schemastore.org/sarif-2.1.0.json",
    version: "2.1.0",
    runs: [
      {
        tool: {
          driver: {
            name: "Gennai",
            version,
            rules: rules.map((id) => ({ id, shortDescription: { text: `The agent's call met the rule ${id}.` } })),
          },
        },
        columnKind: "utf16CodeUnits",
        results: refusals.map((refusal) => {
          const { file, line } = placeOf(refusal);
          return {
            ruleId: refusal.rule,
            ruleIndex: rules.indexOf(refusal.rule),
            level: refusal.unanswered ? "warning" : "error",
            message: { text: plain(describeRefusal(refusal)) },
            locations: [
              {
                physicalLocation: {
                  artifactLocation: { uri: file.split("/").map(encodeURIComponent).join("/"), uriBaseId: "%SRCROOT%" },
                  region: { startLine: line },
                },
              },
            ],
            partialFingerprints: { "gennaiRefusal/v1": fingerprintOf(refusal) },
            properties: { tool: refusal.tool, risk: refusal.risk, unanswered: refusal.unanswered },
          };
        }),
      },
    ],
  };
}

/** Brackets make a link of a message (3.11.6), and text of the model must not become a link. */
function plain(text: string): string {
  return text.replaceAll(/[\\[\]]/g, (character) => `\\${character}`);
}
