// harm: returns a text of 48 MB; expect: stopped limit|stopped memory
return "r".repeat(48 << 20);
