module gomatrix

go 1.19
