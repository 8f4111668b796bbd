import { describe, expect, test } from "vitest";
import { askAt, eventStream, formats, framesOf, rawServer } from "./every-format.ts";

const call = { id: "c1", name: "Read", arguments: { path: "src/main.ts", offset: 3 } };
const answer = { thinking: ["Let me ", "look."], text: ["I will ", "read ", "it."], calls: [call] };
const whole = { text: "I will read it.", calls: [`Read ${JSON.stringify(call.arguments)}`] };

/** Events of a format that say nothing more of an answer that is over. */
const saysNoMore = /^data: \[DONE\]|"type":"message_stop"|"choices":\[\]/;

describe.each(formats)("%s", (format) => {
  const frames = framesOf(format, answer);
  // The end of the answer is the last frame that says something of it.
  const last = frames.findLastIndex((text) => !saysNoMore.test(text.replace(/^event: .*\n/, "")));
  const boundaries = frames.flatMap((_frame, sent) =>
    sent > 0 && sent <= last ? (["breaks", "ends"] as const).map((how) => ({ sent, of: frames.length, how })) : [],
  );

  test.each(boundaries)(
    "is asked again, and whole, when its stream $how after $sent of $of events",
    async ({ sent, how }) => {
      await using server = await rawServer((response, count) => {
        response.writeHead(200, eventStream);
        if (count > 1) return void response.end(frames.join(""));
        response.write(frames.slice(0, sent).join(""), () => (how === "breaks" ? response.destroy() : response.end()));
      });
      expect(await askAt(format, server)).toMatchObject({ ...whole, error: undefined, requests: 2 });
    },
  );
});
