import { testGuarded } from "./guarded-tests.ts";

testGuarded(1);
