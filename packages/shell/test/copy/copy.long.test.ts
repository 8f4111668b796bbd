import { testAsUsers } from "../../../stage/test/as-users.ts";
import { committing, observing } from "../../../stage/test/scenario-files.ts";
import { scenarios } from "./copy-scenarios.ts";

testAsUsers({ file: new URL("copy-scenarios.ts", import.meta.url).href, scenarios }, { stagedBy: "copy" });

for (const file of Object.values({ ...observing, ...committing }))
  testAsUsers(file, { stagedBy: "copy", isLong: true });
