import { testAsOneUser } from "../as-users.ts";
import { beside, observing } from "../scenario-files.ts";

testAsOneUser(beside, { stagedBy: "overlay again" });

// What commands do is found as ever where something runs beside them.
for (const file of Object.values(observing)) testAsOneUser(file, { stagedBy: "overlay again", oneOf: 12 });
