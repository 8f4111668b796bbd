import { expect, test } from "vitest";
import { RiskLevel } from "#gen/gennai/agent/v1/governance_pb";
import { highestRisk, isAtLeast, type Risk, riskFromMessage, riskWords } from "#model/governance/risk";

test("risks are ordered by their rank", () => {
  const reached = riskWords.words.map((risk) => riskWords.words.filter((level) => isAtLeast(risk, level)));
  expect(reached).toEqual([["low"], ["low", "medium"], ["low", "medium", "high"]]);
  expect(highestRisk([])).toBe("low");
  expect(highestRisk(["low", "high", "medium"])).toBe("high");
});

test("a level above the highest, as a newer server or log may have, is at least high", () => {
  const critical = "critical" as Risk;
  expect(isAtLeast(critical, "high")).toBe(true);
  expect(isAtLeast("high", critical)).toBe(false);
  expect(highestRisk(["high", critical])).toBe(critical);
});

test("each number is its level, and any other the highest", () => {
  for (const risk of riskWords.words) expect(riskFromMessage(riskWords.toMessage(risk))).toBe(risk);
  expect([undefined, RiskLevel.UNSPECIFIED, 4 as RiskLevel, -1 as RiskLevel].map(riskFromMessage)).toEqual(
    Array(4).fill("high"),
  );
});
