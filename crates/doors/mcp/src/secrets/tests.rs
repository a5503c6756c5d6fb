//! What is hidden, in whatever form, and what is not.

use super::*;

#[test]
fn a_secret_is_named_instead_of_shown_wherever_it_turns_up() {
    let variables = [
        ("GITHUB_TOKEN", "ghp_0123456789"),
        ("HOME", "/home/ann"),
        ("DB_PASSWORD", "hunter22"),
        ("SSH_AUTH_SOCK", "/run/agent"),
        ("MY_KEY", "abc"),
        ("STRIPE_KEY", "sk_live_1"),
    ];
    let secrets = Secrets::of(variables);
    let shown =
        secrets.redact("t='ghp_0123456789' p=hunter22 h=/home/ann /run/agent abc sk_live_1".to_owned());
    assert_eq!(
        shown,
        "t='[GITHUB_TOKEN redacted]' p=[DB_PASSWORD redacted] h=/home/ann /run/agent abc [STRIPE_KEY redacted]"
    );
    let more = secrets.apart();
    let copy = more.clone();
    more.learn([("APP_SECRET", "s3cr3t!")]);
    let text = || "s3cr3t! hunter22".to_owned();
    assert_eq!(copy.redact(text()), "[APP_SECRET redacted] [DB_PASSWORD redacted]");
    assert_eq!(secrets.redact(text()), "s3cr3t! [DB_PASSWORD redacted]");
}

#[test]
fn a_key_of_several_lines_is_hidden_also_in_quotes_and_in_part() {
    let key = "-----BEGIN KEY-----\nMIIEvQIBADANBgkq\n-----END KEY-----\n";
    let secrets = Secrets::of([("SSH_PRIVATE_KEY", key), ("KEY_TOKEN", "MIIEvQIBADANBgkqhk")]);
    for text in [key, &format!("{key:?}"), "a MIIEvQIBADANBgkq b", "MIIEvQIBADANBgkqhk"] {
        let shown = secrets.redact(text.to_owned());
        assert!(!shown.contains("MIIE") && !shown.contains("hk"), "{shown}");
    }
    assert_eq!(Secrets::shown().redact(key.to_owned()), key);
}

#[test]
fn the_beginning_of_a_long_secret_is_hidden_where_a_debugger_cut_it() {
    let missing = ("GOOGLE_CREDENTIALS", "/home/ann/shop/no-such-key.json");
    let secrets = Secrets::of([("API_TOKEN", "äbcdefghijklmnopqrstuvwxyz"), missing]);
    for (text, shown) in [
        ("'äbcdefghijklmn...", "'[API_TOKEN redacted]..."),
        ("äbcdefghijklmnopqrstuvwxyz äbcdefghijklX", "[API_TOKEN redacted] [API_TOKEN redacted]X"),
        ("äbcdefg", "äbcdefg"),
        ("/home/ann/shop/main.py", "/home/ann/shop/main.py"),
    ] {
        assert_eq!(secrets.redact(text.to_owned()), shown);
    }
}

/// Languages write it in quotes, and what holds it again.
#[test]
fn a_secret_is_hidden_however_it_is_written() {
    let value = "pä\"ss'w#{rd\\1\n";
    let secrets = Secrets::of([("DB_PASSWORD", value)]);
    for written in [
        r#"{"a": "pä\"ss'w#{rd\\1\n"}"#,
        r#"{"a": "p\u00e4\"ss'w#{rd\\1\n"}"#,
        r#"{'a': 'pä"ss\'w#{rd\\1\n'}"#,
        r#"b'p\xc3\xa4"ss\'w#{rd\\1\n'"#,
        r#""p\303\244\"ss'w#{rd\\1\n""#,
        r#"{"a" => "pä\"ss'w\#{rd\\1\n"}"#,
        r#"'{"a": "pä\\"ss\'w#{rd\\\\1\\n"}'"#,
        r#""{\"a\": \"pä\\\"ss'w#{rd\\\\1\\n\"}""#,
    ] {
        let shown = secrets.redact(written.to_owned());
        assert!(shown.contains("[DB_PASSWORD redacted]"), "{written}: {shown}");
        for part in ["ss", "rd", "1"] {
            assert!(!shown.contains(part), "{written}: {shown}");
        }
    }
}

/// What escapes make longer is not a longer secret, and marks are in every text.
#[test]
fn a_few_letters_of_a_secret_are_ordinary_text_however_they_are_written() {
    let account =
        r#"{"type": "service_account", "uri": "https://a.b/c", "private_key": "MIIEvQIBADANBgkqhkiG9w0B"}"#;
    let pem = "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkq\n";
    let secrets =
        Secrets::of([("DB_PASSWORD", "пароль"), ("GOOGLE_CREDENTIALS", account), ("SSH_PRIVATE_KEY", pem)]);
    for ordinary in [
        r#""\u043f\u0430\u0440\u0430""#,
        r#""\\u043f\\u0430\\u0440\\u0430""#,
        r"\320\277\320\260",
        r"b'\xd0\xbf\xd0\xb0'",
        r#"'{"type": "session", "id": 1}'"#,
        r#""{\"type\": \"session\"}""#,
        r#""{\\\"type\\\": 1}""#,
        r"'\u043f\u0430...'",
        "-----BEGIN PUBLIC KEY-----",
    ] {
        assert_eq!(secrets.redact(ordinary.to_owned()), ordinary);
    }
    for (text, shown) in [
        (r"\u043f\u0430\u0440\u043e\u043b\u044c", "[DB_PASSWORD redacted]"),
        (r#"{\"type\": \"service_acc..."#, "[GOOGLE_CREDENTIALS redacted]..."),
        (r#"...\"MIIEvQIBADANBgkqhkiG9w0B\"}"#, "...[GOOGLE_CREDENTIALS redacted]"),
    ] {
        assert_eq!(secrets.redact(text.to_owned()), shown);
    }
}

#[test]
fn a_secret_is_hidden_in_json_that_escapes_more_than_it_must() {
    let secrets = Secrets::of([("API_TOKEN", "ab+c'd=<e>&f"), ("APP_SECRET", "Zäbcdefghijklmn+op/q=r")]);
    for written in [
        r#"{"a":"ab\u002Bc\u0027d=\u003Ce\u003E\u0026f"}"#,
        r#"{"a":"ab+c\u0027d\u003d\u003ce\u003e\u0026f"}"#,
        r#"{"a":"ab+c'd=\u003ce\u003e\u0026f"}"#,
        r#""{\"a\":\"ab+c'd=\\u003ce\\u003e\\u0026f\"}""#,
    ] {
        let shown = secrets.redact(written.to_owned());
        let [begin, end] = [written.find("ab").unwrap(), written.find("026f").unwrap() + 4];
        let wanted = format!("{}[API_TOKEN redacted]{}", &written[..begin], &written[end..]);
        assert_eq!(shown, wanted, "{written}");
    }
    for (text, shown) in [
        (r#""Zäbcdefghijklmn\x2Bop\u002fq\u003Dr", 1"#, r#""[APP_SECRET redacted]", 1"#),
        (r#""Zäbcdefghijklmn\\u{2b}op/q=r""#, r#""[APP_SECRET redacted]""#),
        (r#"Zäbcdefghijklmn\nmore words"#, r#"[APP_SECRET redacted]\nmore words"#),
    ] {
        assert_eq!(secrets.redact(text.to_owned()), shown);
    }
}

#[test]
fn variables_are_known_in_each_form_that_a_call_can_have_them_in() {
    use serde_json::json;
    for env in [
        json!({"API_TOKEN": "s3cr3t-one"}),
        json!(["API_TOKEN=s3cr3t-one"]),
        json!("{\"API_TOKEN\": \"s3cr3t-one\"}"),
        json!(" [\"API_TOKEN=s3cr3t-one\"]"),
        json!("PORT=80\nAPI_TOKEN=s3cr3t-one"),
    ] {
        let secrets = Secrets::default();
        secrets.learn_from(&env);
        assert_eq!(secrets.redact("s3cr3t-one".to_owned()), "[API_TOKEN redacted]", "{env}");
    }
}

#[test]
fn what_a_debugger_leaves_of_a_secret_around_its_cut_is_hidden() {
    let secrets = Secrets::of([("DB_PASSWORD", "hunter22"), ("API_TOKEN", "äbcdefghijklmnopqrstuvwxyz")]);
    for (text, shown) in [
        ("{'p': 'hunter...", "{'p': '[DB_PASSWORD redacted]..."),
        ("\"hunter2\"...", "\"[DB_PASSWORD redacted]\"..."),
        ("'hunt…22' 'hunter22'", "'[DB_PASSWORD redacted]…[DB_PASSWORD redacted]' '[DB_PASSWORD redacted]'"),
        ("'äbcdef…tuvwxyz', 'x...'", "'[API_TOKEN redacted]…[API_TOKEN redacted]', 'x...'"),
        ("'äbcde…vwxyz'", "'äbcde…vwxyz'"),
        ("the hunt...", "the hunt..."),
        ("x...nter22", "x...[DB_PASSWORD redacted]"),
        ("x...efghijklmnopqrstuvwxyz, y...", "x...[API_TOKEN redacted], y..."),
    ] {
        assert_eq!(secrets.redact(text.to_owned()), shown);
    }
}

#[test]
fn a_password_in_an_address_is_a_secret_and_what_only_looks_like_one_is_not() {
    let secrets = Secrets::of([
        ("DATABASE_URL", "postgres://app:postgres@db/main"),
        ("REDIS", "redis://:a-long-password@cache"),
        ("MYSQL_PWD", "hunter22"),
        ("SMTP_PASS", "letters-out"),
        ("BROKERS", "amqp://a:first@x,amqp://b:second-secret@y"),
        ("MIRRORS", "http://x/y, http://c:third-and-last@z"),
        ("GIT_AUTHOR_NAME", "Ada Lovelace"),
        ("MAX_OUTPUT_TOKENS", "128000"),
        ("DOCS_URL", "http://localhost:8080/a@b"),
        ("PWD", "/home/ann"),
        ("TOKEN_STORE", "/"),
    ]);
    for (text, shown) in [
        ("postgres://app:postgres@db/main", "postgres://app[DATABASE_URL redacted]db/main"),
        ("postgres a-long-password", "postgres [REDIS redacted]"),
        ("hunter22", "[MYSQL_PWD redacted]"),
        ("letters-out", "[SMTP_PASS redacted]"),
        ("a:first@x b:second-secret@y", "a[BROKERS redacted]x b[BROKERS redacted]y"),
        ("first second-secret", "first [BROKERS redacted]"),
        ("third-and-last", "[MIRRORS redacted]"),
        ("Ada Lovelace 128000 8080 /home/ann/", "Ada Lovelace 128000 8080 /home/ann/"),
    ] {
        assert_eq!(secrets.redact(text.to_owned()), shown);
    }
}

#[test]
fn the_environment_of_a_process_is_known_by_its_number() {
    let variable = ("BREAKROOM_TEST_TOKEN", "of-a-child-process");
    let mut child =
        std::process::Command::new("sleep").arg("60").env(variable.0, variable.1).spawn().unwrap();
    let secrets = Secrets::default();
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(60);
    // Until it is another program than this one its environment is this one's.
    while secrets.redact(variable.1.to_owned()) == variable.1 && std::time::Instant::now() < deadline {
        secrets.learn_of_process(child.id().into());
    }
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(secrets.redact(variable.1.to_owned()), "[BREAKROOM_TEST_TOKEN redacted]");
}
