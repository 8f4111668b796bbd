import type { ChangeReport, LineCounts, ReportedFile } from "@gennai/store/provenance/report/change-report";
import {
  agentLines,
  answerNames,
  count,
  decisionNames,
  doubtOf,
  lineKinds,
  method,
  namesPeople,
  sessionNames,
  shareOf,
  shown,
  summaryOf,
  totalOf,
  when,
} from "./report-words.ts";

/** Files with a row; of the rest there is only the number. */
const mostFiles = 500;

/** One page that needs nothing else: no script, nothing fetched. */
export function reportHtml(report: ChangeReport): string {
  const { from, to, lines, writers, intents, decisions, asked, files } = report;
  const doubt = doubtOf(report);
  const named = namesPeople(report);
  const total = totalOf(lines);
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>Where this change came from</title>
<style>${style}</style>
</head>
<body>
<main>
<header>
<h1>Where this change came from</h1>
<p class="range"><code>${from.slice(0, 12)}</code> to <code>${to.slice(0, 12)}</code>, ${escaped(when(report.made))}</p>
</header>
${doubt === undefined ? "" : `<p class="doubt" role="alert"><strong>Not to be relied on.</strong> ${escaped(doubt)}</p>`}
<section class="lead">
<p class="figure"><b>${shareOf(agentLines(lines), total)}</b><span>of ${count(total, "new line")} by an agent</span></p>
<p class="summary">${escaped(summaryOf(report))}</p>
</section>
${picture(lines)}
<ul class="legend">${lineKinds
    .filter(({ key }) => lines[key] > 0)
    .map(({ key, name }) => `<li><i class="${key}"></i>${escaped(name)} <b>${lines[key]}</b></li>`)
    .join("")}</ul>
<div class="columns">
${section(
  "Written by",
  ["", "new lines"],
  writers.map((each) => [codeOf(each.name), each.lines]),
)}
${section(
  "Under which intent",
  ["", "new lines", "files"],
  intents.map(({ id, lines: each, files: inFiles }) => [id === "" ? "none was selected" : codeOf(id), each, inFiles]),
)}
${section(
  "How it was let happen",
  ["", "new lines"],
  decisions.map((each) => [escaped(decisionNames[each.type]), each.lines]),
)}
</div>
${section(
  "Questions and refusals since the branch began",
  ["record", "when", "tool", "rule", "answer", ...(named ? ["by"] : []), "session"],
  asked.map(({ seq, time, tool, rule, answer, by, isOfChange }) => [
    `#${seq}`,
    escaped(when(time)),
    codeOf(tool),
    rule === "" ? "" : codeOf(rule),
    `<span class="${answer}">${answerNames[answer]}</span>`,
    ...(named ? [escaped(by)] : []),
    sessionNames[isOfChange ? "own" : "other"],
  ]),
)}
${section(
  "Files",
  ["", "new lines", "", "of the agent", "without verification", "not known", "taken out"],
  files.slice(0, mostFiles).map((file) => fileRow(file, Math.max(...files.map(({ added }) => totalOf(added)), 1))),
)}
${files.length > mostFiles ? `<p>And ${count(files.length - mostFiles, "more file")}.</p>` : ""}
<footer><p>${escaped(method)}</p></footer>
</main>
</body>
</html>
`;
}

/** The shares of all new lines, side by side. */
function picture(lines: LineCounts): string {
  const total = totalOf(lines);
  const label = lineKinds
    .filter(({ key }) => lines[key] > 0)
    .map(({ key, name }) => `${name}: ${lines[key]}`)
    .join("; ");
  return `<svg class="picture" viewBox="0 0 1000 56" preserveAspectRatio="none" role="img" aria-label="${escaped(`New lines. ${label || "none"}`)}">
${bars(lines, total, 1000, 56)}
</svg>`;
}

function bars(counts: LineCounts, total: number, width: number, height: number): string {
  let left = 0;
  return lineKinds
    .map(({ key, name }) => {
      const wide = total === 0 ? 0 : (width * counts[key]) / total;
      const at = left;
      left += wide;
      if (wide === 0) return "";
      return `<rect class="${key}" x="${at.toFixed(2)}" y="0" width="${wide.toFixed(2)}" height="${height}"><title>${escaped(`${name}: ${counts[key]}`)}</title></rect>`;
    })
    .join("");
}

function fileRow({ path, kind, isText, added, removed }: ReportedFile, most: number): readonly (string | number)[] {
  const total = totalOf(added);
  const without = added.unverified + added.failed;
  const wide = Math.max(total === 0 ? 0 : 2, (160 * total) / most);
  return [
    `${codeOf(path)}${kind === "changed" ? "" : ` <em>${kind}</em>`}${isText ? "" : " <em>no text</em>"}`,
    total,
    `<svg class="row" viewBox="0 0 160 10" aria-hidden="true">${bars(added, total, wide, 10)}</svg>`,
    agentLines(added),
    without === 0 ? 0 : `<strong>${without}</strong>`,
    added.unknown,
    removed,
  ];
}

function section(title: string, heading: readonly string[], rows: readonly (readonly (string | number)[])[]): string {
  if (rows.length === 0) return "";
  const cell = (value: string | number): string => `<td${isNumber(value) ? ' class="number"' : ""}>${value}</td>`;
  const head = heading.map(
    (name, at) => `<th scope="col"${isNumber(rows[0]?.[at]) ? ' class="number"' : ""}>${name}</th>`,
  );
  return `<section><h2>${title}</h2><div class="wide"><table><thead><tr>${head.join("")}</tr></thead>
<tbody>${rows.map((cells) => `<tr>${cells.map(cell).join("")}</tr>`).join("\n")}</tbody></table></div></section>`;
}

/** Numbers stand at the right, marked ones as well. */
function isNumber(value: string | number | undefined): boolean {
  return typeof value === "number" || value?.startsWith("<strong>") === true;
}

function codeOf(name: string): string {
  return `<code>${escaped(name)}</code>`;
}

const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

function escaped(text: string): string {
  return shown(text).replaceAll(/[&<>"']/g, (character) => entities[character] ?? "");
}

const colours = (which: "light" | "dark"): string => lineKinds.map((kind) => `--${kind.key}:${kind[which]};`).join("");

const style = `
:root{color-scheme:light dark;--ink:#1b1f24;--soft:#57606a;--line:#d8dee4;--page:#fff;--bad:#b3261e;--good:#2d6a35;${colours("light")}}
@media (prefers-color-scheme:dark){:root{--ink:#e6e9ed;--soft:#9aa4af;--line:#363c44;--page:#15181c;--bad:#f2716a;--good:#86c08e;${colours("dark")}}}
*{box-sizing:border-box}
body{margin:0;background:var(--page);color:var(--ink);font:15px/1.5 system-ui,sans-serif}
main{max-width:62rem;margin:0 auto;padding:2.5rem 1.5rem}
h1{font-size:1.6rem;line-height:1.2;margin:0 0 .25rem}
h2{font-size:1rem;margin:2rem 0 .5rem}
.range,footer{color:var(--soft);margin:0}
footer{margin-top:2.5rem;border-top:1px solid var(--line);padding-top:1rem;font-size:.85rem}
.doubt{border-left:4px solid var(--bad);padding:.5rem 1rem;margin:1.5rem 0 0}
.lead{display:flex;gap:2rem;align-items:center;margin:1.5rem 0 1rem;flex-wrap:wrap}
.figure{margin:0;flex:none}
.figure b{display:block;font-size:3rem;line-height:1;font-variant-numeric:tabular-nums}
.figure span{color:var(--soft)}
.summary{margin:0;flex:1 1 22rem;font-size:1.05rem}
.picture{display:block;width:100%;height:2.5rem;border-radius:4px}
.legend{list-style:none;margin:.75rem 0 0;padding:0;display:flex;flex-wrap:wrap;gap:.25rem 1.5rem;color:var(--soft)}
.legend b{color:var(--ink)}
.legend i{display:inline-block;width:.75rem;height:.75rem;border-radius:2px;margin-right:.4rem}
.columns{display:grid;grid-template-columns:repeat(auto-fit,minmax(16rem,1fr));gap:0 2.5rem}
.wide{overflow-x:auto}
table{width:100%;border-collapse:collapse}
th,td{text-align:left;padding:.3rem .75rem .3rem 0;border-bottom:1px solid var(--line);vertical-align:top}
th{color:var(--soft);font-weight:500;font-size:.85rem}
.number{text-align:right;font-variant-numeric:tabular-nums}
code{font:.88em ui-monospace,monospace;overflow-wrap:anywhere}
em{color:var(--soft);font-style:normal;font-size:.85em}
strong,.no,.refused{color:var(--bad)}
.yes{color:var(--good)}
svg.row{width:10rem;height:.65rem;vertical-align:middle}
${lineKinds.map(({ key }) => `rect.${key}{fill:var(--${key})}.legend .${key}{background:var(--${key})}`).join("")}
@media print{main{padding:0;max-width:none}body{font-size:11px}*{-webkit-print-color-adjust:exact;print-color-adjust:exact}}
`;
