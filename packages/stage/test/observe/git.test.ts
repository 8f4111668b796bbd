import { testAsOneUser } from "../as-users.ts";
import { observing } from "../scenario-files.ts";

testAsOneUser(observing.git);
