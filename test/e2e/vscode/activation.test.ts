import { tell } from "./figures.ts";
import { hostSuite } from "./host-suite.ts";

const results = await hostSuite(new URL("host/activation.ts", import.meta.url));
for (const { note = "" } of results) {
  const [, waited, processor] = /^in (\d+) ms, (\d+) ms of the processor$/.exec(note) ?? [];
  if (waited === undefined || processor === undefined) continue;
  const target = { type: "most", value: 100 } as const;
  tell(
    { name: "activation, processor time", unit: "ms", figure: Number(processor), target },
    { name: "activation, as the clock has it", unit: "ms", figure: Number(waited), target },
  );
}
