import { expect, it } from "vitest";
import { createRedactionMarkerPolicy } from "#policies/files/redaction-marker";
import { decide, exec, inside, summary, write } from "../effects.ts";

const policy = createRedactionMarkerPolicy();

it("redaction marker: keeps masked text from going back into a file", async () => {
  expect(summary(await decide(policy, write(inside("a"), { content: "key=[REDACTED:aws]" })))).toBe("deny masked_text");
  expect(summary(await decide(policy, write(inside("a"), { content: "key=1" })))).toBe("allow");
  expect(summary(await decide(policy, exec("echo 'x=[REDACTED:aws]' > a")))).toBe("deny masked_text");
  expect(summary(await decide(policy, exec("grep -rn '[REDACTED:' docs")))).toBe("allow");
});
