"""Invented secrets in all forms that scanners document, assembled here from parts.

No file of this repository contains a whole one, so that no scanner reports them. The forms are from
the documentation of Betterleaks, detect-secrets, secretlint and the vendors. A form is a piece of a
log, a command, a settings file or a JSON stream.
"""

import json
import random
import string
from base64 import b64encode
from dataclasses import dataclass

UPPER, LOWER, DIGITS = string.ascii_uppercase, string.ascii_lowercase, string.digits
ALNUM, HEX = string.ascii_letters + DIGITS, "0123456789abcdef"
URLSAFE, BASE32 = ALNUM + "-_", UPPER + "234567"


@dataclass(frozen=True)
class Form:
    """A text that contains a secret."""

    name: str
    text: str
    secret: str
    """Must be absent from the redacted text."""


def forms(seed: int = 11) -> list[Form]:
    """Return all forms, each with its own secret."""
    chance = random.Random(seed)

    def some(alphabet: str, length: int) -> str:
        return "".join(chance.choice(alphabet) for _ in range(length))

    def uuid() -> str:
        return "-".join(some(HEX, size) for size in (8, 4, 4, 4, 12))

    tokens = {
        "AWS access key": "AK" + "IA" + some(BASE32, 16),
        "AWS temporary key": "AS" + "IA" + some(BASE32, 16),
        "GitHub personal": "gh" + "p_" + some(ALNUM, 36),
        "GitHub app": "gh" + "s_" + some(ALNUM, 36),
        "GitHub refresh": "gh" + "r_" + some(ALNUM, 36),
        "GitHub fine-grained": "github" + "_pat_" + some(ALNUM + "_", 82),
        "GitLab personal": "gl" + "pat-" + some(URLSAFE, 20),
        "GitLab runner": "gl" + "rt-" + some(URLSAFE, 20),
        "Stripe live": "sk" + "_live_" + some(ALNUM, 24),
        "Stripe restricted": "rk" + "_live_" + some(ALNUM, 24),
        "Stripe test": "sk" + "_test_" + some(ALNUM, 24),
        "Stripe webhook": "wh" + "sec_" + some(ALNUM, 32),
        "OpenAI": "sk" + "-proj-" + some(URLSAFE, 74) + "T3Blbk" + "FJ" + some(URLSAFE, 74),
        "OpenAI, old": "sk" + "-" + some(ALNUM, 48),
        "Anthropic": "sk" + "-ant-api03-" + some(URLSAFE, 93) + "AA",
        "Slack bot": "xox" + f"b-{some(DIGITS, 12)}-{some(DIGITS, 12)}-{some(ALNUM, 24)}",
        "Slack user": "xox"
        + f"p-{some(DIGITS, 12)}-{some(DIGITS, 12)}-{some(DIGITS, 12)}-{some(HEX, 32)}",
        "Slack app": "xa" + f"pp-1-A{some(UPPER + DIGITS, 10)}-{some(DIGITS, 13)}-{some(HEX, 64)}",
        "Discord bot": f"M{some(ALNUM, 23)}.{some(ALNUM, 6)}.{some(URLSAFE, 27)}",
        "Google API": "AI" + "za" + some(URLSAFE, 35),
        "Google access": "ya" + "29." + some(URLSAFE, 120),
        "Google refresh": "1/" + "/0" + some(URLSAFE, 60),
        "Google client secret": "GOC" + "SPX-" + some(URLSAFE, 28),
        "Hugging Face": "h" + "f_" + some(string.ascii_letters, 34),
        "SendGrid": "S" + f"G.{some(URLSAFE, 22)}.{some(URLSAFE, 43)}",
        "Twilio key": "S" + "K" + some(HEX, 32),
        "Twilio account": "A" + "C" + some(HEX, 32),
        "Telegram": f"{some('123456789', 10)}:A" + "A" + some(URLSAFE, 33),
        "Vault": "hv" + "s." + some(URLSAFE, 96),
        "Vault batch": "hv" + "b." + some(URLSAFE, 140),
        "Vault, old": "s" + "." + some(ALNUM, 24),
        "npm": "np" + "m_" + some(ALNUM, 36),
        "PyPI": "py" + "pi-AgEIcHlwaS5vcmc" + some(URLSAFE, 90),
        "Mailgun": "ke" + "y-" + some(HEX, 32),
        "Mailchimp": "mailchimp_key = " + some(HEX, 32) + "-us12",
        "DigitalOcean": "dop" + "_v1_" + some(HEX, 64),
        "Shopify": "shp" + "at_" + some(HEX, 32),
        "Square": "sq0" + "csp-" + some(URLSAFE, 43),
        "Databricks": "da" + "pi" + some(HEX, 32),
        "Doppler": "dp" + ".pt." + some(ALNUM, 43),
        "Docker Hub": "dckr" + "_pat_" + some(URLSAFE, 27),
        "Linear": "lin" + "_api_" + some(ALNUM, 40),
        "Grafana": "gl" + "sa_" + some(ALNUM, 32) + "_" + some(HEX, 8),
        "Sentry": "sntr" + "yu_" + some(HEX, 64),
        "Postman": "PM" + f"AK-{some(HEX, 24)}-{some(HEX, 34)}",
        "Pulumi": "pu" + "l-" + some(HEX, 40),
        "RubyGems": "rubygems" + "_" + some(HEX, 48),
        "Terraform Cloud": f"{some(ALNUM, 14)}.atlas" + f"v1.{some(URLSAFE, 67)}",
        "Figma": "fi" + "gd_" + some(URLSAFE, 40),
        "age": "AGE-SECRET" + "-KEY-1" + some("QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L", 58),
        "Azure client": f"{some(ALNUM, 3)}8" + "Q~" + some(URLSAFE, 34),
        "New Relic": 'newrelic_key: "NR' + f'AK-{some(UPPER + DIGITS, 27)}"',
        "Notion": "nt" + "n_" + some(DIGITS, 11) + some(ALNUM, 35),
        "Brevo": "xkey" + f"sib-{some(HEX, 64)}-{some(ALNUM, 16)}",
        "JWT": ".".join(
            b64encode(json.dumps(part).encode()).decode().rstrip("=")
            for part in ({"alg": "HS256", "typ": "JWT"}, {"sub": some(DIGITS, 10)})
        )
        + "."
        + some(URLSAFE, 43),
        "bcrypt": "$2" + "b$12$" + some(ALNUM + "./", 53),
        "shadow": "$6" + f"${some(ALNUM, 8)}${some(ALNUM + './', 86)}",
        "shadow, rounds": "$6" + f"$rounds=5000${some(ALNUM, 8)}${some(ALNUM + './', 86)}",
        "yescrypt": "$y" + f"$j9T${some(ALNUM, 22)}${some(ALNUM + './', 43)}",
    }
    made = [
        Form(name, f"it says {token}, twice", token.split()[-1].strip('"'))
        for name, token in tokens.items()
    ]

    word, short, phrase = "swordfish", "pw" + some(DIGITS, 2), "correct horse battery"
    strong, forty, key = (
        some(ALNUM, 20),
        some(HEX, 40),
        some(ALNUM, 3) + some(DIGITS, 5) + some(ALNUM, 8),
    )
    login = b64encode(f"admin:{key}".encode()).decode()
    storage = b64encode(chance.randbytes(64)).decode()
    aws = some(ALNUM, 12) + "/" + some(ALNUM, 14) + "+" + some(ALNUM, 12)
    hook = f"T{some(UPPER, 8)}/B{some(UPPER + DIGITS, 8)}/{some(ALNUM, 24)}"
    named = {
        "Slack hook": ("https://hooks.slack" + f".com/services/{hook}", hook),
        "Discord hook": ("https://discord" + f".com/api/webhooks/1234567890/{strong * 3}", strong),
        "hex after a name": (f"github_token {forty}", forty),
        "hex in an assignment": (f"    token = {forty}", forty),
        "hex in YAML": (f"api-key: {forty}", forty),
        "password in quotes": (f'password = "{word}"', word),
        "password in YAML": (f"password: {short}word", short),
        "short password": (f"PASSWORD={short}", short),
        "word as a password": (f"DB_PASSWORD={word}", word),
        "password with blanks": (f'passphrase: "{phrase}"', phrase),
        "password with blanks, JSON": (json.dumps({"password": phrase}), phrase),
        "password in escaped JSON": (json.dumps(json.dumps({"password": key})), key),
        "default of a parameter": (f'def login(user: str, password: str = "{key}"):', key),
        "option, blank": (f"tool --password {key} -v", key),
        "option, equals": (f"tool --api-key={strong}", strong),
        "option of a list": (f'["tool", "--token", "{strong}"]', strong),
        "curl -u": (f"curl -s -u admin:{key} https://x.test/", key),
        "curl --user": (f"curl --user 'admin:{phrase}' https://x.test/", phrase),
        "mysql -p": (f"mysql -uroot -p{key} shop", key),
        "redis-cli -a": (f"redis-cli -h cache.test -a {word} ping", word),
        "redis-cli -a, JSON": (json.dumps({"command": f"redis-cli -a {key}"}), key),
        "password in German": (f"Passwort: {key}", key),
        "password in German, quoted": (f'"Kennwort": "{word}"', word),
        "password in Spanish": (f"contraseña: {key}", key),
        "password in French": (f"Mot de passe : {key}", key),
        "password in Portuguese": (f"SENHA={word}", word),
        "password in Dutch": (f"wachtwoord = {key}", key),
        "sshpass": (f"sshpass -p {key} ssh host", key),
        "docker login": (f"docker login -u me -p {key} registry.test", key),
        "Cookie": (f"Cookie: theme=dark; session={strong}", strong),
        "Set-Cookie": (f"< set-cookie: sid={strong}; Path=/; HttpOnly", strong),
        "netrc": (f"machine x.test login me password {word}", word),
        "netrc, several lines": (f"machine x.test\n  login me\n  password {key}\n", key),
        "postgres": (f"postgres://app:{key}@db:5432/shop", key),
        "redis": (f"redis://:{key}@cache:6379/0", key),
        "mongodb": (f"mongodb+srv://app:{key}@c0.test/db?w=1", key),
        "amqp": (f"amqps://app:{key}@mq/vhost", key),
        "git remote": (f"https://{strong}@git.test/me/x.git", strong),
        "SQL Server": (f"Server=db;User Id=sa;Password={phrase};Encrypt=1", phrase),
        "Azure storage": (f"AccountName=a;AccountKey={storage};EndpointSuffix=x", storage),
        "Azure signature": (f"https://a.test/b?sv=2024&sig={some(ALNUM, 43)}%3D", "sig=" + "A"),
        "bearer header": (f"Authorization: Bearer {strong}", strong),
        "basic header": (f"> authorization: Basic {login}", login),
        "token header": (f'headers = {{"Authorization": "token {forty}"}}', forty),
        "key header": (f"X-Api-Key: {strong}", strong),
        "private header": (f"PRIVATE-TOKEN: {strong}", strong),
        "docker config": (json.dumps({"auths": {"x.test": {"auth": login}}}), login),
        "npmrc": (f"//registry.test/:_authToken={uuid()}", "_authToken=" + "A"),
        "AWS secret": (f"aws_secret_access_key = {aws}", aws),
        "Heroku": (f"HEROKU_API_KEY={uuid()}", "KEY=" + "A"),
        "query": (f"GET /x?access_token={strong}&page=2", strong),
        "XML": (f"<password>{word}</password>", word),
        "environment of a process": (f"os.environ['API_TOKEN'] = '{key}'", key),
        "below its name": (f"password:\n    {key}\n", key),
        "Django": (f"SECRET_KEY = 'django-insecure-{strong}$%'", strong),
        "JSON in a log": (f'{{"level":"info","client_secret":"{strong}"}}', strong),
        "Java properties": (f"spring.datasource.password={word}", word),
        "PowerShell": (f'$env:API_KEY = "{strong}"', strong),
        "telling word, assigned": (f"password=top{'Secret'}{short[2:]}3", f"Secret{short[2:]}3"),
        "telling word, YAML": (f"password: pass{short[2:]}34word", f"pass{short[2:]}34word"),
        "telling word, prose": ("login with password=Pass" + "w0rd!", "w0rd!"),
        "telling word, last": ("password=S3cret" + f"Passw{short[2:]}", f"Passw{short[2:]}"),
        "telling word, one digit": ("password=Pass" + "word1", "word1"),
        "ampersand": ("password=Tr0ub4" + "dor&3xyz", "&3xyz"),
        "ampersand, query": (f"GET /x?password=Tr0ub&{short}z&next=/", f"&{short}z"),
        "attribute": (f'<add key="Password" value="{word}"/>', word),
        "attribute, name": (f"<property name='db.password' value='{key}'/>", key),
        "URL-encoded": (f"next=%2Flogin%3Fpassword%3D{key}%26user%3Dme", key),
        "URL-encoded twice": (f"u=password%253D{key}", key),
        "URL-encoded JSON": (f"q=%7B%22password%22%3A%22{key}%22%7D", key),
        "continued option": (f"mysqldump --password \\\n  {key} \\\n  shop", key),
        "continued assignment": (f"export API_TOKEN=\\\n{strong}", strong),
        "Digest": (f'Authorization: Digest username="me", response="{forty[:32]}"', forty[:32]),
        "call": (f'client.setPassword("{key}")', key),
    }  # fmt: skip
    made += [
        Form(name, text, text.rpartition("=")[2][:20] if secret.endswith("=A") else secret)
        for name, (text, secret) in named.items()
    ]

    body = [some(ALNUM + "+/", 64) for _ in range(6)] + [some(ALNUM, 20) + "=="]
    blocks = {
        kind: "\n".join([f"-----{edge} {kind}PRIVATE" + " KEY-----" for edge in ("BEGIN", "END")])
        .replace("\n", "\n".join(["", *body, ""]))
        for kind in ("RSA ", "OPENSSH ", "EC ", "")
    }  # fmt: skip
    made += [Form(f"{kind}private key", f"see:\n{key}\n.", body[3]) for kind, key in blocks.items()]
    putty = "\n".join(["Public-Lines: 1", body[0], "Private-Lines: 2", *body[1:3], "Private"])
    putty += f"-MAC: {forty}"
    made += [
        Form("PuTTY", putty, body[2]),
        Form("PuTTY in JSON", json.dumps({"text": putty, "n": 1}), body[1]),
        Form("PuTTY, its end", putty, forty),
    ]
    token = tokens["GitHub personal"]
    coloured = f"{token[:14]}\x1b[1m{token[14:]}"
    cut = f"it is {token[:16]}\n{token[16:]}\n"
    returned = f"it is {token[:8]}\r{token[8:20]}\r{token[20:]} now"
    made += [
        Form("private key in JSON", json.dumps({"text": blocks[""], "n": 1}), body[3]),
        Form("private key cut off", blocks["RSA "][:150], body[1][:10]),
        Form("token in colour", coloured, token[20:]),
        Form("token in colour, in JSON", json.dumps(coloured), token[20:]),
        Form("token cut by a line end", cut, token[16:]),
        Form("token cut by a line end, in JSON", json.dumps(cut), token[16:]),
        Form("token cut by returns", returned, token[20:]),
        Form("token cut by returns, its begin", returned, token[8:20]),
        Form("token cut by a return, in JSON", json.dumps(returned), token[20:]),
        Form("token at a line's begin in JSON", json.dumps(f"it is\n{token}\n"), token),
    ]
    return made


def caught(form: Form, redacted: str) -> bool:
    """True if neither the secret nor a recognizable part of it is left."""
    middle = len(form.secret) // 3
    part = form.secret[middle : middle + 8] if len(form.secret) > 12 else form.secret
    return form.secret not in redacted and part not in redacted
