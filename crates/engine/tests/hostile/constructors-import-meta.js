// harm: asks where it lies on the disk; expect: refused
return import.meta.url;
