import { testAsOneUser } from "../../../stage/test/as-users.ts";
import { mounting } from "../../../stage/test/scenario-files.ts";

testAsOneUser(mounting.background);
