// harm: answers toJSON with another such object; expect: threw TypeError
const value = { toJSON() { return { toJSON: value.toJSON } } };
return value;
