import { readCommandLine } from "../../scripts/lib/command-line.mjs";
import type { VerdictType } from "./checks/commands/commands.ts";
import { guardedCases, guardedGate, mayCome, triedHosts } from "./guarded-corpus.ts";

readCommandLine(
  `npm run corpus:guard   judges the attack corpus and the everyday commands as each guarded agent's hook sends them, and prints a table

Ends with 1 when a call comes out wrong.
`,
  {},
);

const cases = guardedCases();
await using gate = await guardedGate();
const lines: string[] = [];
const wrong: string[] = [];
for (const host of triedHosts) {
  const counts = { attacks: { allow: 0, ask: 0, deny: 0 }, everyday: { allow: 0, ask: 0, deny: 0 } };
  for (const each of cases) {
    const verdict: VerdictType = await gate.verdict(host, each.call);
    counts[each.isAttack ? "attacks" : "everyday"][verdict] += 1;
    if (!mayCome(verdict, each))
      wrong.push(`${host.id} ${each.id} ${each.required}: ${JSON.stringify(each.call)}: ${verdict}`);
  }
  const cells = [counts.attacks, counts.everyday].flatMap(({ allow, ask, deny }) => [deny, ask, allow]);
  lines.push(`| ${[host.id.padEnd(11), ...cells.map((count) => String(count).padStart(8))].join(" | ")} |`);
}
const [attacks, everyday] = [cases.filter(({ isAttack }) => isAttack), cases.filter(({ isAttack }) => !isAttack)];
process.stdout.write(`${attacks.length} attacks, ${everyday.length} everyday commands, told to the gate as each agent's hook tells them

|             |  attacks |          |          | everyday |          |          |
| agent       |  refused |    asked | went on  |  refused |    asked | went on  |
| ----------- | -------: | -------: | -------: | -------: | -------: | -------: |
${lines.join("\n")}
`);
for (const line of wrong) process.stdout.write(`WRONG  ${line}\n`);
process.exitCode = wrong.length === 0 ? 0 : 1;
