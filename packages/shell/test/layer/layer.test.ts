import { testAsOneUser } from "../../../stage/test/as-users.ts";
import { observing } from "../../../stage/test/scenario-files.ts";

testAsOneUser(observing.layer);
