import { plural } from "@gennai/protocol/plural";
import type { ChangeReport, LineCounts } from "@gennai/provenance/change-report";
import { lineShares, type ReportCell, type ReportTable, reportTables } from "./report-tables.ts";
import {
  agentLines,
  doubtOf,
  type LineKind,
  lineKinds,
  lineKindsOf,
  method,
  rangeOf,
  shareOf,
  shown,
  summaryOf,
  title,
  totalOf,
} from "./report-words.ts";

/** Most files that get a row; the others are only counted. */
const mostFiles = 500;

/** The report as one page that needs nothing else: it has no script and fetches nothing. */
export function reportHtml(report: ChangeReport): string {
  const { lines, files } = report;
  const doubt = doubtOf(report);
  const total = totalOf(lines);
  const widest = Math.max(...files.map(({ added }) => totalOf(added)), 1);
  const kinds = lineKindsOf(report);
  const tables = reportTables(report, mostFiles).map((table) => ({ table, html: section(table, { widest, kinds }) }));
  // Narrow tables are placed side by side.
  const isNarrow = ({ table }: (typeof tables)[number]): boolean => table.heading.length <= 3;
  const htmlOf = (some: typeof tables): string => some.map(({ html }) => html).join("\n");
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>${title}</title>
<style>${style}</style>
</head>
<body>
<main>
<header>
<h1>${title}</h1>
<p class="range">${escaped(rangeOf(report))}</p>
</header>
${doubt === undefined ? "" : `<p class="doubt" role="alert"><strong>Not to be relied on.</strong> ${escaped(doubt)}</p>`}
<section class="lead">
<p class="figure"><b>${shareOf(agentLines(lines), total)}</b><span>of ${plural(total, "new line")} by an agent</span></p>
<p class="summary">${escaped(summaryOf(report))}</p>
</section>
${picture(report)}
<ul class="legend">${lineShares(report)
    .map(({ key, name, lines: each }) => `<li><i class="${key}"></i>${escaped(name)} <b>${each}</b></li>`)
    .join("")}</ul>
<div class="columns">
${htmlOf(tables.filter(isNarrow))}
</div>
${htmlOf(tables.filter((each) => !isNarrow(each)))}
<footer><p>${escaped(method)}</p></footer>
</main>
</body>
</html>
`;
}

/** The shares of all new lines, side by side. */
function picture(report: ChangeReport): string {
  const label = lineShares(report)
    .map(({ name, lines }) => `${name}: ${lines}`)
    .join("; ");
  return `<svg class="picture" viewBox="0 0 1000 56" preserveAspectRatio="none" role="img" aria-label="${escaped(`New lines. ${label || "none"}`)}">
${bars(report.lines, totalOf(report.lines), { width: 1000, height: 56, kinds: lineKindsOf(report) })}
</svg>`;
}

function bars(
  counts: LineCounts,
  total: number,
  { width, height, kinds }: { readonly width: number; readonly height: number; readonly kinds: readonly LineKind[] },
): string {
  let left = 0;
  return kinds
    .map(({ key, name }) => {
      const wide = total === 0 ? 0 : (width * counts[key]) / total;
      const at = left;
      left += wide;
      if (wide === 0) return "";
      return `<rect class="${key}" x="${at.toFixed(2)}" y="0" width="${wide.toFixed(2)}" height="${height}"><title>${escaped(`${name}: ${counts[key]}`)}</title></rect>`;
    })
    .join("");
}

/** What all pictures in a table share: the largest number of lines in one, and the kinds of lines. */
interface Pictures {
  readonly widest: number;
  readonly kinds: readonly LineKind[];
}

function section({ title: name, heading, rows, more }: ReportTable, pictures: Pictures): string {
  // Numbers are aligned right.
  const numbers = heading.map((_, at) => (rows[0]?.[at]?.type === "number" ? ' class="number"' : ""));
  const head = heading.map((words, at) => `<th scope="col"${numbers[at]}>${escaped(words)}</th>`);
  const body = rows.map(
    (row) => `<tr>${row.map((value, at) => `<td${numbers[at]}>${cell(value, pictures)}</td>`).join("")}</tr>`,
  );
  return `<section><h2>${escaped(name)}</h2><div class="wide"><table><thead><tr>${head.join("")}</tr></thead>
<tbody>${body.join("\n")}</tbody></table></div>${more === 0 ? "" : `<p>And ${plural(more, "more file")}.</p>`}</section>`;
}

function cell(value: ReportCell, { widest, kinds }: Pictures): string {
  switch (value.type) {
    case "words":
      return value.tone === undefined
        ? escaped(value.text)
        : `<span class="${value.tone}">${escaped(value.text)}</span>`;
    case "person":
      return escaped(value.text);
    case "name":
      return [`<code>${escaped(value.text)}</code>`, ...(value.remarks ?? []).map((each) => `<em>${each}</em>`)].join(
        " ",
      );
    case "number":
      return value.isBad === true ? `<strong>${value.number}</strong>` : String(value.number);
    case "picture": {
      const total = totalOf(value.counts);
      const wide = Math.max(total === 0 ? 0 : 2, (160 * total) / widest);
      return `<svg class="row" viewBox="0 0 160 10" aria-hidden="true">${bars(value.counts, total, { width: wide, height: 10, kinds })}</svg>`;
    }
  }
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
