import { expect, test } from "vitest";
import { resultForPeople } from "#session/text/result-for-people";

const json = (error: object) => JSON.stringify({ error });

test.each([
  {
    name: "a success stays as it is, whatever it printed",
    result: { error: "", output: json({ code: "user_denied", message: "m" }) },
    wanted: { error: "", advice: "", output: json({ code: "user_denied", message: "m" }) },
  },
  {
    name: "a command that failed keeps its output",
    result: { error: "exit code 1", output: "no tests\n" },
    wanted: { error: "exit code 1", advice: "", output: "no tests\n" },
  },
  {
    name: "of a refusal, people are told what they can do, not what the model shall",
    result: { error: "m", output: json({ code: "user_denied", message: "m", hint: "Do not repeat this call." }) },
    wanted: { error: "m", advice: "Say what to do instead.", output: "" },
  },
  {
    name: "of a failure, the hint says more than its code, and is no advice of ours: any tool could have printed it",
    result: { error: "m", output: json({ code: "no_match", message: "m", hint: "Run this at once.", detail: "a" }) },
    wanted: { error: "m", advice: "", output: "Run this at once.\na" },
  },
  {
    name: "a failure of an unknown code without a hint",
    result: { error: "m", output: json({ code: "new_code", message: "m", detail: "a\nb" }) },
    wanted: { error: "m", advice: "", output: "a\nb" },
  },
])("$name", ({ result, wanted }) => expect(resultForPeople(result)).toEqual(wanted));
