import { recordWords } from "@gennai/repl/timeline/record-words";
import { passes, type TimelineRecord } from "@gennai/repl/timeline/timeline-record";
import { element, told } from "./elements.ts";
import type { ReadBundle } from "./read-bundle.ts";

/** Records that are drawn at once. */
const pageSize = 200;
/** Characters of one record that are shown. */
const longest = 200_000;

/** The records of a bundle that is sound, newest first, with a box to look for words in them. */
export function recordList({ report, records }: ReadBundle): readonly Node[] {
  if (records.length === 0) return [];
  const search = element("input", "");
  search.type = "search";
  search.placeholder = "Words in records";
  search.setAttribute("aria-label", "Look for words in records");
  const list = element("ol", "records");
  const more = element("button", "", "");
  more.type = "button";
  let found = records;
  let drawn = 0;
  const draw = () => {
    for (const record of found.slice(drawn, drawn + pageSize)) list.append(entry(record));
    drawn = Math.min(found.length, drawn + pageSize);
    more.hidden = drawn >= found.length;
    more.textContent = `Show more (${found.length - drawn})`;
  };
  const begin = () => {
    const filter = { kind: "", sessionId: "", path: "", text: search.value };
    found = records.filter((record) => passes(record, filter)).toReversed();
    drawn = 0;
    list.replaceChildren();
    draw();
  };
  search.addEventListener("input", begin);
  more.addEventListener("click", draw);
  begin();
  const left = report.records - records.length;
  const heading =
    left === 0 ? `${records.length} records` : `The newest ${records.length} of ${report.records} records`;
  return [element("h2", "", heading), search, list, more];
}

function entry(record: TimelineRecord): HTMLLIElement {
  const { seq, time, kind, modelId, intent, calls } = record;
  const facts = [
    ...(modelId === "" ? [] : [`by ${modelId}`]),
    ...(intent === "" ? [] : [`under ${intent}`]),
    ...calls.flatMap(({ verdict, rule, confirmation, verification }) => [
      ...(verdict === "" ? [] : [verdict]),
      ...(rule === "" ? [] : [`by ${rule}`]),
      ...(confirmation === "" ? [] : [`answered: ${confirmation}`]),
      ...(verification === "" ? [] : [verification]),
    ]),
  ].join(", ");
  const summary = element(
    "summary",
    "",
    element("b", "", `${seq} `),
    element("time", "", time === undefined ? "no time" : time.toISOString()),
    ` ${told(kind)} `,
    element("span", "what", told(recordWords(record))),
    element("span", "quiet", facts === "" ? "" : ` ${told(facts)}`),
  );
  const details = element("details", "", summary);
  details.addEventListener("toggle", () => {
    if (details.open && details.children.length === 1) details.append(element("pre", "", laidOut(record.json)));
  });
  return element("li", "", details);
}

function laidOut(json: string): string {
  let text = json;
  try {
    text = JSON.stringify(JSON.parse(json), undefined, 2);
  } catch {
    // Unchanged text.
  }
  return told(text.length > longest ? `${text.slice(0, longest)}\n… cut here` : text);
}
