import { errorMessage } from "@gennai/protocol/error-message";
import "./no-code-from-text.ts";
import { chosenAnchors } from "./chosen-anchors.ts";
import { element, told } from "./elements.ts";
import { readBundle } from "./read-bundle.ts";
import { recordList } from "./record-list.ts";
import { reportParts } from "./report-parts.ts";
import { checkBrowser } from "./web-verifier.ts";

/** Larger files are no public key. */
const mostKeyBytes = 64 * 1024;

const bundleInput = inputOf("Bundle", ".json,application/json");
const keyInput = inputOf("Signer's public key (.pub)", ".pub,.pem,text/plain");
const anchorsInput = inputOf("Heads that somebody kept (optional)", "text/plain,.txt");
anchorsInput.input.multiple = true;
const witnessKeys = element("textarea", "");
witnessKeys.rows = 2;
witnessKeys.spellcheck = false;
witnessKeys.placeholder = "NAME+KEYID+BASE64";
const status = element("p", "status");
status.setAttribute("role", "status");
const result = element("section", "result");
result.setAttribute("aria-label", "Result");

document.body.append(
  element(
    "main",
    "",
    element("h1", "", "Check a Gennai ledger"),
    element(
      "p",
      "quiet",
      "Choose an exported bundle, and the public key of the one who must have signed it. Everything happens in this page: it cannot reach any network.",
    ),
    element("div", "inputs", bundleInput.label, keyInput.label, anchorsInput.label),
    element(
      "details",
      "",
      element("summary", "", "Witnesses"),
      element("label", "", "Keys of those whose word on the time of a kept head counts, one a line ", witnessKeys),
    ),
    status,
    result,
  ),
);

/** Number of the newest check: an older one that comes to its end later says nothing. */
let newest = 0;
for (const input of [bundleInput.input, keyInput.input, anchorsInput.input, witnessKeys]) {
  input.addEventListener("change", () => void check());
}

async function check(): Promise<void> {
  newest += 1;
  const mine = newest;
  const file = bundleInput.input.files?.[0];
  result.replaceChildren();
  if (file === undefined) {
    say("Choose a bundle.");
    return;
  }
  try {
    await checkBrowser();
    const key = await chosenKey();
    const anchors = await chosenAnchors([...(anchorsInput.input.files ?? [])], witnessKeys.value);
    const onRead = (bytes: number) => {
      if (mine === newest) say(`Checking: ${percent(bytes, file.size)} of ${told(file.name)} …`);
    };
    const read = await readBundle(file, key, { anchors, onRead });
    if (mine !== newest) return;
    say(`Checked ${told(file.name)}.`);
    result.append(...reportParts(read.report), ...recordList(read));
  } catch (error) {
    if (mine !== newest) return;
    say("");
    const failure = element("p", "verdict bad", `Nothing was checked. ${told(errorMessage(error))}`);
    failure.setAttribute("role", "alert");
    result.append(failure);
  }
}

async function chosenKey(): Promise<string | undefined> {
  const file = keyInput.input.files?.[0];
  if (file === undefined) return undefined;
  if (file.size > mostKeyBytes) throw new Error(`${file.name} is not a public key: it is too large.`);
  return file.text();
}

function say(words: string): void {
  if (status.textContent !== words) status.textContent = words;
}

function percent(bytes: number, all: number): string {
  return `${all === 0 ? 100 : Math.floor((bytes / all) * 100)} %`;
}

function inputOf(name: string, accept: string) {
  const input = element("input", "");
  input.type = "file";
  input.accept = accept;
  return { input, label: element("label", "", `${name} `, input) };
}
