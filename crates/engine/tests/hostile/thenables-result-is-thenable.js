// harm: returns a thenable; expect: returns "contained"
return { then(yes) { yes("contained") } };
