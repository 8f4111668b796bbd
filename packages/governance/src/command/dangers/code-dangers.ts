import { isInterpreter, isScriptRunner } from "../../programs/interpreters.ts";
import { programNamed } from "../../programs/known-programs.ts";
import type { DangerRule } from "../words/invocation.ts";
import { hasOption } from "../words/option-spec.ts";
import { shells } from "../words/wrappers.ts";
import { deny, held } from "./danger-rows.ts";

/** Programs that decode data into text that was unreadable before. */
const decoders =
  /^(?:base(?:64|32)|basenc|xxd|tr|rev|openssl|gunzip|zcat|gzip|bzcat|xzcat|uudecode|gpg|sed|od|hexdump|printf|cut|tac|paste|dd|envsubst|jq)$/;
/** What comes from the network when a program prints it. */
const isFromNetwork = (source: string): boolean => programNamed(source)?.reaches === true;

export const codeDangers: readonly DangerRule[] = [
  {
    rule: "floor/download-and-run",
    find({ input, words, name }) {
      if (!shells.has(name) && !isScriptRunner(name) && !/^(?:eval|iex)$/.test(name)) return undefined;
      const substituted = words.some(
        (word) => word.sources?.some(isFromNetwork) && /^["']?(?:[<$]\(|`)/.test(word.raw),
      );
      if (substituted) return deny("Code from the network would run without anybody seeing it first.");
      if (input.type !== "pipe") return undefined;
      const script = words.find((word) => !(word.literal ?? "-").startsWith("-") || word.literal === "-");
      if (script !== undefined && script.literal !== "-" && !hasOption(words, "-s")) return undefined;
      if (words.some((word) => /^-(?:[a-z]*c|e|p|m)/.test(word.literal ?? "")) && !shells.has(name)) return undefined;
      if (input.sources.some(isFromNetwork))
        return deny("Code from the network would run without anybody seeing it first.");
      if (
        input.text === undefined &&
        shells.has(name) &&
        input.sources.some((source) => decoders.test(source) || isInterpreter(source))
      ) {
        return held(deny("The output of another program would run without anybody seeing it first."));
      }
      return undefined;
    },
  },
  {
    rule: "floor/input-as-script",
    programs: [...shells],
    find: ({ appendsInput }) =>
      appendsInput ? held(deny("The input would run as a script without anybody seeing it first.")) : undefined,
  },
];
