//! Files and folders in a folder of their own, and paths as text.

use crate::library::testing::{Desk, texts};
use crate::value::{Value, format};

fn text(text: &str) -> Value {
    Value::text(text)
}

/// A desk in an empty folder, and that folder.
fn desk() -> (Desk, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let mut desk = Desk::default();
    desk.world.surroundings.folder = folder.path().to_owned();
    (desk, folder)
}

/// The value that comes with no error, or the error's message.
fn outcome(desk: &mut Desk, name: &str, arguments: &[Value]) -> Result<Value, String> {
    match desk.call("io", name, arguments).unwrap() {
        Value::Tuple(parts) => match &parts[1] {
            Value::Nil => Ok(parts[0].clone()),
            Value::Struct(error) => Err(format::print(&error.fields[0])),
            other => panic!("no error: {other:?}"),
        },
        value => Ok(value),
    }
}

fn yes() -> Result<Value, String> {
    Ok(Value::Bool(true))
}

#[test]
fn a_file_is_written_read_and_removed() {
    let (mut desk, folder) = desk();
    let file = || text("a.txt");
    assert_eq!(outcome(&mut desk, "write_file", &[file(), text("one\n")]), yes());
    assert_eq!(outcome(&mut desk, "append_file", &[file(), text("two")]), yes());
    assert_eq!(outcome(&mut desk, "append_line", &[file(), text("!")]), yes());
    assert_eq!(std::fs::read_to_string(folder.path().join("a.txt")).unwrap(), "one\ntwo!\n");
    assert_eq!(outcome(&mut desk, "read_file", &[file()]), Ok(text("one\ntwo!\n")));
    assert_eq!(outcome(&mut desk, "read_lines", &[file()]), Ok(texts(&["one", "two!"])));
    assert_eq!(outcome(&mut desk, "file_size", &[file()]), Ok(Value::Int(9)));
    let Ok(Value::Int(changed)) = outcome(&mut desk, "file_mod_time", &[file()]) else { panic!("no time") };
    assert!(changed > 1_700_000_000);
    assert_eq!(outcome(&mut desk, "copy", &[file(), text("b.txt")]), yes());
    assert!(outcome(&mut desk, "copy", &[file(), text("./a.txt")]).unwrap_err().contains("same file"));
    assert_eq!(outcome(&mut desk, "rename", &[text("b.txt"), text("c.txt")]), yes());
    assert_eq!(outcome(&mut desk, "exists", &[text("b.txt")]), Ok(Value::Bool(false)));
    assert_eq!(outcome(&mut desk, "read_file", &[text("c.txt")]), Ok(text("one\ntwo!\n")));
    assert_eq!(outcome(&mut desk, "remove", &[file()]), yes());
    assert_eq!(outcome(&mut desk, "is_file", &[file()]), Ok(Value::Bool(false)));
}

#[test]
fn bytes_are_kept_as_they_are() {
    let (mut desk, _folder) = desk();
    let bytes = Value::array([0, 200, 255].map(Value::Byte).to_vec());
    assert_eq!(outcome(&mut desk, "write_bytes", &[text("b"), bytes.clone()]), yes());
    assert_eq!(outcome(&mut desk, "read_bytes", &[text("b")]), Ok(bytes));
    assert!(outcome(&mut desk, "read_file", &[text("b")]).unwrap_err().contains("UTF-8"));
}

#[test]
fn folders_are_made_listed_and_removed() {
    let (mut desk, folder) = desk();
    assert_eq!(outcome(&mut desk, "mkdir", &[text("d")]), yes());
    assert!(outcome(&mut desk, "mkdir", &[text("d")]).is_err());
    assert_eq!(outcome(&mut desk, "mkdir_all", &[text("d/e/f")]), yes());
    outcome(&mut desk, "write_file", &[text("d/z"), text("")]).unwrap();
    std::os::unix::fs::symlink(folder.path(), folder.path().join("d/e/up")).unwrap();
    assert_eq!(outcome(&mut desk, "is_dir", &[text("d/e")]), Ok(Value::Bool(true)));
    assert_eq!(outcome(&mut desk, "read_dir", &[text("d")]), Ok(texts(&["e", "z"])));
    assert_eq!(outcome(&mut desk, "walk", &[text("d")]), Ok(texts(&["d/e", "d/z", "d/e/f", "d/e/up"])));
    assert!(outcome(&mut desk, "remove_dir", &[text("d")]).is_err());
    assert_eq!(outcome(&mut desk, "remove_all", &[text("d")]), yes());
    assert_eq!(outcome(&mut desk, "remove_all", &[text("d")]), yes());
    assert!(folder.path().exists());
    assert!(outcome(&mut desk, "remove_all", &[text("")]).is_err());
    assert!(folder.path().exists());
    outcome(&mut desk, "mkdir", &[text("empty")]).unwrap();
    assert_eq!(outcome(&mut desk, "remove_dir", &[text("empty")]), yes());
}

#[test]
fn an_error_names_the_file_and_what_was_tried() {
    let (mut desk, _folder) = desk();
    let told = outcome(&mut desk, "read_file", &[text("nothing.txt")]).unwrap_err();
    assert_eq!(told, "cannot read `nothing.txt`: No such file or directory");
    for name in ["read_lines", "read_bytes", "file_size", "file_mod_time", "remove", "read_dir", "walk"] {
        assert!(outcome(&mut desk, name, &[text("nothing.txt")]).is_err(), "{name}");
    }
    for name in ["copy", "rename"] {
        assert!(outcome(&mut desk, name, &[text("nothing.txt"), text("b")]).is_err(), "{name}");
    }
    assert!(outcome(&mut desk, "write_file", &[text("no/such/folder"), text("")]).is_err());
    assert!(outcome(&mut desk, "read_file", &[text("/dev/zero")]).unwrap_err().contains("no regular file"));
}

#[test]
fn paths_are_text() {
    let (mut desk, folder) = desk();
    let rows: Vec<(&str, Vec<Value>, &str)> = vec![
        ("path_join", vec![text("home"), text("user"), text("f.txt")], "home/user/f.txt"),
        ("path_join", vec![text("a/"), text(""), text("../b")], "b"),
        ("path_join", vec![], ""),
        ("path_base", vec![text("/a/b.txt/")], "b.txt"),
        ("path_base", vec![text("/")], "/"),
        ("path_base", vec![text("")], "."),
        ("path_dir", vec![text("/a/b.txt")], "/a"),
        ("path_dir", vec![text("b.txt")], "."),
        ("path_dir", vec![text("/b")], "/"),
        ("path_ext", vec![text("a.d/b.tar.gz")], ".gz"),
        ("path_ext", vec![text("a.d/b")], ""),
        ("path_clean", vec![text("./foo/../bar//baz/.")], "bar/baz"),
        ("path_clean", vec![text("/../a")], "/a"),
        ("path_clean", vec![text("../../a")], "../../a"),
        ("path_clean", vec![text("")], "."),
        ("path_separator", vec![], "/"),
    ];
    for (name, arguments, expected) in rows {
        assert_eq!(outcome(&mut desk, name, &arguments), Ok(text(expected)), "{name} of {arguments:?}");
    }
    let here = folder.path().join("x");
    assert_eq!(outcome(&mut desk, "path_abs", &[text("./y/../x")]), Ok(text(here.to_str().unwrap())));
    assert_eq!(outcome(&mut desk, "path_is_abs", &[text("x")]), Ok(Value::Bool(false)));
}
